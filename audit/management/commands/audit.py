from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from audit import noting
from audit.sealed import exporting, heads, sealing, verifying

SHOWN: Final = 10


class Command(BaseCommand):
    help = (
        "Verify the audit chain, seal what no worker has, export the log, or print the newest hash to keep elsewhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        verify = verbs.add_parser("verify", help="verify every link; exit 1 and name the first broken one")
        verify.add_argument("--from", dest="since", type=int, default=1, metavar="N", help="start at seal N")
        verify.add_argument(
            "--head",
            action="append",
            default=[],
            metavar="HASH",
            help="a hash kept elsewhere that must be in the chain, or the line it was published in; may be repeated",
        )
        verbs.add_parser("seal", help="seal what was written since the last seal: after a restore, or without a worker")
        export = verbs.add_parser("export", help="print the audit log as JSON lines that can be verified elsewhere")
        export.add_argument("--since", default="", metavar="TIME", help="only entries sealed since then")
        export.add_argument("--words", action="store_true", help="include what people wrote, on private timelines too")
        verbs.add_parser("head", help="print the newest seal's number, time and hash")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        getattr(self, f"_{verb}")(options)

    def _verify(self, options: dict[str, Any]) -> None:
        try:
            kept = [one.split()[-1] for one in options["head"] if one.strip()]
            held = verifying.verify(at=timezone.now(), since=options["since"], heads=kept)
        except verifying.ChainBroken as broken:
            raise CommandError(str(broken)) from broken
        for one in held.late[:SHOWN]:
            self.stderr.write(f"{one}. Sealing was not running then, or these seals were made again later.")
        if len(held.late) > SHOWN:
            self.stderr.write(f"And {len(held.late) - SHOWN} more seals made long after their rows.")
        without = f", {held.redacted} of them redacted" if held.redacted else ""
        self.stdout.write(
            f"{held.links} seals over {held.rows} rows{without} verified. The newest hash is {held.head}."
        )

    def _seal(self, options: dict[str, Any]) -> None:
        count = sealing.seal(at=sealing.now())
        self.stdout.write(f"Sealed {count} row{'' if count == 1 else 's'}." if count else "Everything is sealed.")

    def _export(self, options: dict[str, Any]) -> None:
        since = _time(options["since"]) if options["since"] else None
        noting.note("export", by=None, about="audit", data={"since": options["since"], "words": options["words"]})
        for line in exporting.lines(since=since, words=options["words"]):
            self.stdout.write(line)

    def _head(self, options: dict[str, Any]) -> None:
        newest = heads.newest()
        if newest is None:
            raise CommandError("Nothing is sealed yet.")
        self.stdout.write(str(newest))


def _time(said: str) -> datetime:
    """Parse a day or a time; UTC if no time zone is given."""
    try:
        day = parse_date(said)
        time = datetime(day.year, day.month, day.day) if day else parse_datetime(said)  # noqa: DTZ001  # below
    except ValueError:
        time = None
    if time is None:
        raise CommandError(f"{said!r} is not a date or time. Use 2026-11-21 or 2026-11-21T06:40.")
    return time if timezone.is_aware(time) else timezone.make_aware(time, timezone.get_default_timezone())
