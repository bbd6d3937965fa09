"""What planning needs to know about one incident. Pure values; ``workflows.loading.load_facts`` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from incidents.policies.policy import Policy, moves_room, private_after
from workflows.planning.captures import ProfileSource, Trigger
from workflows.planning.invitee import Invitee
from workflows.planning.observed import ELSEWHERE
from workflows.planning.pages import Callee, Paged, RequestedPage
from workflows.planning.tickets.wanted import TrackedFollowup, TrackerNow

ENDING = frozenset({"declared", "lead", "role", "group", "one-of", "paged"})  # how stays begin that may outlast it


@dataclass(frozen=True, slots=True)
class Room:
    """A room, a channel of the incident: ``name`` is the codename, empty while it is not known yet.

    ``public`` says that its channel exists and everyone in the workspace can read it; ``gone`` that it no longer
    exists, and how that is known; ``outside`` that people removed us from it; ``words`` that it contains, or may
    contain, messages of ours that were not withdrawn; ``withdrawing`` that some may be being withdrawn right now, or
    are being checked for that.
    """

    number: int
    name: str
    private: bool
    shown: str
    public: bool = False
    gone: str = ""
    words: bool = False
    withdrawing: bool = False
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Stay:
    """How someone's stay in an incident began, as recorded.

    ``came`` is the stored reason, ``detail`` the group, role or page, ``by`` who let them in. ``here`` marks current
    participants, ``went`` those who left or were removed by hand, ``named`` those brought in by the current type's
    plan.
    """

    who: Invitee
    came: str
    detail: str = ""
    by: str = ""
    here: bool = True
    went: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class RetypeNews:
    """What a retype changed, as confirmed: the two types, the colour, and the plan's lines.

    ``back`` is the slug of the previous type if going back loses nothing, else empty. ``changes`` is None for a retype
    recorded without its lines; ``nameless`` are those lines as guests read them. ``stays_out`` says that the person who
    retyped it did not come along.
    """

    before: str
    now: str
    colour: str = ""
    back: str = ""
    changes: tuple[str, ...] | None = None
    stays_out: bool = False
    nameless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskNow:
    """The current state of the task or follow-up that an entry started: its owner, its due date, and its outcome.

    ``borne`` is its number as buttons carry it.
    """

    n: int
    word: str
    text: str
    state: str = "open"
    owner: Invitee | None = None
    due: str = ""
    link: str = ""
    ticket: str = ""
    ticket_url: str = ""
    borne: str = ""


@dataclass(frozen=True, slots=True)
class ChannelPost:
    """An event that is posted in the channel. ``text`` is what was said, ``sentence`` is the whole entry in words.

    ``evidence`` is the number of the evidence it adds, if any; ``pictured`` says that it can be drawn, ``unread`` that
    it could not be read. ``finding`` is the number of the finding it judges. ``ask`` is the verb that its message asks
    for (``resolve``), or ``fill|`` and a role; ``link`` is its URL in the pager. ``answer`` says how a request was
    answered, ``by_hand`` what someone has to do. ``at`` is when it happened, ``retype`` what a retype changed.
    ``owner`` takes the next step that it states, or was given the lead or a role by someone else; ``only`` is the one
    person to tell, if not everyone. ``stated`` is what an update states with it, each with a label. ``task`` is the
    task or follow-up that it started. ``withdrawn`` says that it showed in public what is private by now. ``borne`` is
    its number as buttons carry it.
    """

    n: int
    kind: str
    label: str
    by: str
    sentence: str
    text: str
    room: int
    retracted: bool = False
    retracted_by: str = ""
    redacted: bool = False
    retry: str = ""
    evidence: int = 0
    pictured: bool = False
    finding: int = 0
    ask: str = ""
    link: str = ""
    answer: str = ""
    by_hand: str = ""
    at: datetime | None = None
    retype: RetypeNews | None = None
    owner: Invitee | None = None
    only: Invitee | None = None
    stated: tuple[tuple[str, ChannelPost], ...] = ()
    task: TaskNow | None = None
    unread: bool = False
    withdrawn: bool = False
    borne: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """What a private incident publishes: these words, on a page and in a channel with a codename of its own."""

    codename: str
    channel: str
    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that decides what should exist outside for one incident.

    ``is_drill`` says that it is practice; ``agreed`` are the ids of people who agreed to take part in drills,
    ``barred`` of those who take part in a replay and may not see what it replays. ``groups`` maps a handle to those of
    its members who may be invited, or to None if the workspace has no such group; a missing handle was never looked
    up. ``why_no_group`` says why a group doesn't exist, by handle, if that is known. ``stays`` are current and former
    participants, and how they came. ``took_part`` are the ids of the participants before a retype that is being
    planned, else None. ``is_closed`` says that people come in by name alone; ``turned_away`` are people the
    participants did not let in, each with the rule that named them. ``there`` are keys of things that exist or are
    being made, ``sought`` of those that are only looked for, ``apps`` the chat ids of apps in the room, ``put_out``
    the keys of people removed by the vendor from theirs. ``triggers`` are the events that may cause captures, in
    order; ``sources`` are the profile sources, by name. ``chosen`` holds the one-of roles' holders, by role.
    ``update``, ``impact`` and ``next_step`` are as last stated. ``due_at`` is when the next status update is due, or
    was, if it is overdue. ``on_call`` maps a schedule's name to those on call, or to None if the pager has no such
    schedule; ``callees`` maps a name that a policy pages to its callee. ``otherwise`` are people that a policy names
    directly, by the name it uses. ``announce_channel`` is where incidents are announced now, if anywhere;
    ``announced_in`` maps each announcement that exists or is being posted to its channel. ``published`` is the summary
    of a private incident that two people confirmed for everyone to read. ``converts`` says that the vendor can make a
    public channel private. ``tracker`` is where ``followups`` go, if anywhere; ``tickets`` maps keys of tickets that
    exist, or are being opened, to their projects; ``stranded`` are unconnected projects with tickets that everyone who
    reads the project can read, one item per ticket; ``doubtful`` are those where such tickets may have been opened;
    ``elsewhere`` names where words of ours can be read in a workspace that is no longer connected. ``failing`` are the
    numbers of failed steps that were not retried since. ``uninvited`` is why no one could be invited to the current
    room, if no one is in it.
    """

    revision: int
    codename: str
    title: str
    is_drill: bool = False
    agreed: frozenset[int] = frozenset()
    barred: frozenset[int] = frozenset()
    summary: str = ""
    status: str = "open"
    active: bool = True
    policy: Policy
    private: bool
    room: int
    rooms: tuple[Room, ...]
    url: str
    declared_at: datetime
    lead: Invitee | None = None
    declarer: Invitee | None = None
    roles: tuple[tuple[str, Invitee], ...] = ()
    stays: tuple[Stay, ...] = ()
    took_part: frozenset[int] | None = None
    is_closed: bool = False
    turned_away: frozenset[tuple[int, str]] = frozenset()
    groups: Mapping[str, tuple[Invitee, ...] | None] = field(default_factory=dict)
    why_no_group: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, Invitee] = field(default_factory=dict)
    told: tuple[ChannelPost, ...] = ()
    update: ChannelPost | None = None
    impact: ChannelPost | None = None
    next_step: ChannelPost | None = None
    due_at: datetime | None = None
    archive_asked: bool = False
    announce_channel: str = "incidents"
    announced_in: Mapping[str, str] = field(default_factory=dict)
    there: frozenset[str] = frozenset()
    sought: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
    put_out: frozenset[str] = frozenset()
    chat: bool = True
    services: tuple[str, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    sources: Mapping[str, ProfileSource] = field(default_factory=dict)
    pager: bool = False
    on_call: Mapping[str, tuple[Invitee, ...] | None] = field(default_factory=dict)
    otherwise: Mapping[str, Invitee] = field(default_factory=dict)
    callees: Mapping[str, Callee | None] = field(default_factory=dict)
    asked: tuple[RequestedPage, ...] = ()
    paged: tuple[Paged, ...] = ()
    published: Published | None = None
    converts: bool = False
    tracker: TrackerNow | None = None
    followups: tuple[TrackedFollowup, ...] = ()
    tickets: Mapping[str, str] = field(default_factory=dict)
    stranded: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    failing: frozenset[str] = frozenset()
    uninvited: str = ""

    def is_there(self, key: str) -> bool:
        """Whether a thing exists outside or is being made right now."""
        return key in self.there

    def is_found(self, key: str) -> bool:
        """Whether a thing exists or is being made, and is not only looked for.

        What is wanted only if it exists has to be found first: otherwise it would be wanted while it is looked for,
        given up if it cannot be found, and looked for again without end.
        """
        return key in self.there and key not in self.sought

    def announces_in(self, key: str) -> str:
        """Return the channel in which an announcement exists, or else is to be posted; empty for none."""
        return self.announced_in.get(key, self.announce_channel)

    def room_of(self, number: int) -> Room:
        """Return a room by its number."""
        return next(room for room in self.rooms if room.number == number)

    @property
    def rooms_left(self) -> tuple[int, ...]:
        """The numbers of all rooms but the current one, including later ones: the conversation may have moved back."""
        return tuple(one.number for one in self.rooms if one.number != self.room)

    @property
    def room_before(self) -> Room:
        """The room that the conversation came from; people may have moved back from a room in another workspace."""
        before = sorted((one for one in self.rooms if one.number < self.room), key=lambda one: -one.number)
        return next((one for one in before if one.gone != ELSEWHERE), before[0])

    @property
    def away(self) -> frozenset[int]:
        """The ids of those who left or were removed by hand: they are not invited again."""
        return frozenset(stay.who.person_id for stay in self.stays if stay.went)

    @property
    def guests(self) -> bool:
        """Whether someone is in who may learn no names but of those they respond with."""
        return any(stay.here and stay.who.is_guest for stay in self.stays)

    @property
    def inside(self) -> frozenset[int]:
        """The ids of those who take part before anything is done."""
        return self._here if self.took_part is None else self.took_part

    @property
    def _here(self) -> frozenset[int]:
        return frozenset(stay.who.person_id for stay in self.stays if stay.here)

    @property
    def next_n(self) -> int:
        """The lowest number that the next entry of the timeline can have, given the entries known here."""
        return max((0, *(one.n for one in self.triggers), *(one.n for one in self.told))) + 1

    def retyped(
        self, policy: Policy, *, staying: tuple[Stay, ...], bring: tuple[Invitee, ...], converts: bool = False
    ) -> Facts:
        """Return the facts as they would be after a retype: what the lifecycle's verb does, without doing it.

        ``staying`` are those who stay when the conversation moves to a private room; ``bring`` are always brought
        along; ``converts`` says that the room itself is made private.
        """
        moves = moves_room(self.private, policy)
        private = private_after(self.private, policy)
        leaves = (moves and not converts) or bool(self.room_of(self.room).gone)
        number = max(one.number for one in self.rooms) + 1 if leaves else self.room
        shown = "a new private channel" if private else "a new channel"
        rooms = (*self.rooms, Room(number, "", private, shown)) if leaves else self.rooms
        ids, inside = {stay.who.person_id for stay in staying}, {stay.who.chat_id for stay in staying}
        return replace(
            self,
            revision=self.revision + 1,
            policy=policy,
            private=private,
            took_part=self._here,
            is_closed=False,
            room=number,
            rooms=rooms,
            lead=self.lead if self.lead is None or not moves or self.lead.person_id in ids else None,
            roles=tuple((role, one) for role, one in self.roles if not moves or one.person_id in ids),
            stays=_closed_to(self.stays, staying) if moves else _brought(self.stays, bring),
            chosen={} if moves else self.chosen,
            paged=tuple(one.closed(inside) for one in self.paged) if moves else self.paged,
            archive_asked=False if moves else self.archive_asked,
            triggers=(*self.triggers, Trigger(self.next_n, "retype", self.declared_at)),
        )


def _closed_to(stays: tuple[Stay, ...], staying: tuple[Stay, ...]) -> tuple[Stay, ...]:
    """Shut out everyone but those who stay; that someone left the room before says nothing about the new one."""
    ids = {stay.who.person_id for stay in staying}
    gone = (replace(stay, here=False, went=False, named=False) for stay in stays if stay.who.person_id not in ids)
    return (*staying, *gone)


def _brought(stays: tuple[Stay, ...], bring: tuple[Invitee, ...]) -> tuple[Stay, ...]:
    known = {stay.who.person_id: replace(stay, named=False) for stay in stays}
    for one in bring:
        stay = known.get(one.person_id)
        if stay is None or not stay.here or stay.came in ENDING:
            known[one.person_id] = Stay(one, "picked", by=one.why)
    return tuple(known.values())
