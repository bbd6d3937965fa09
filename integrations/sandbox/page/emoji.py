"""The emoji that this page can show by name; others stay written out."""

from __future__ import annotations

import re
from typing import Final

PALETTE: Final = ("pushpin", "eyes", "white_check_mark", "+1", "raised_hands", "fire", "rotating_light", "heart")
"""Offered for reactions, the first being what puts a message on a timeline."""


def _table(text: str) -> dict[str, str]:
    names = (pair.partition("=") for pair in text.split())
    return {name: picture for name, _, picture in names}


EMOJI: Final[dict[str, str]] = _table(
    """
    pushpin=📌 eyes=👀 white_check_mark=✅ +1=👍 thumbsup=👍 -1=👎 raised_hands=🙌 fire=🔥 rotating_light=🚨 heart=❤️
    tada=🎉 warning=⚠️ lock=🔒 unlock=🔓 closed_lock_with_key=🔐 bulb=💡 mega=📣 loudspeaker=📢 bell=🔔 no_bell=🔕
    mag=🔍 link=🔗 memo=📝 x=❌ heavy_check_mark=✔️ question=❓ grey_question=❔ exclamation=❗
    heavy_exclamation_mark=❗ information_source=ℹ️ point_right=👉 point_left=👈 pray=🙏 bug=🐛
    hammer_and_wrench=🛠️ wrench=🔧 ambulance=🚑 thinking_face=🤔 sob=😭 joy=😂 smile=😄 slightly_smiling_face=🙂
    sweat_smile=😅 rocket=🚀 boom=💥 zap=⚡ no_entry=⛔ no_entry_sign=🚫 busts_in_silhouette=👥
    bust_in_silhouette=👤 bar_chart=📊 chart_with_upwards_trend=📈 calendar=📅 date=📅 stopwatch=⏱️
    timer_clock=⏲️ alarm_clock=⏰ hourglass=⌛ hourglass_flowing_sand=⏳ clock1=🕐 white_circle=⚪ black_circle=⚫
    red_circle=🔴 large_blue_circle=🔵 large_green_circle=🟢 large_yellow_circle=🟡 large_orange_circle=🟠
    large_purple_circle=🟣 arrow_right=➡️ arrow_up=⬆️ arrow_down=⬇️ large_green_square=🟩
    repeat=🔁 arrows_counterclockwise=🔄
    speech_balloon=💬 shield=🛡️ package=📦 telephone_receiver=📞 pager=📟 books=📚 wave=👋 clap=👏 100=💯 star=⭐
    sparkles=✨ broom=🧹 test_tube=🧪 bomb=💣 fire_engine=🚒 fire_extinguisher=🧯 headphones=🎧 briefcase=💼
    globe_with_meridians=🌐 house=🏠 door=🚪 twisted_rightwards_arrows=🔀 pencil2=✏️ round_pushpin=📍
    triangular_flag_on_post=🚩 construction=🚧 octagonal_sign=🛑 green_heart=💚
    large_blue_diamond=🔷 ballot_box_with_check=☑️
    """  # noqa: RUF001 -- pictures, not letters
)

_NAMED: Final = re.compile(r":([a-z0-9_+\-]+):")


def shown(name: str) -> str:
    """Return one emoji, or its name between colons."""
    return EMOJI.get(name.split("::", maxsplit=1)[0], f":{name}:")


def replaced(text: str) -> str:
    """Return a text with its emoji names replaced."""
    return _NAMED.sub(lambda match: EMOJI.get(match[1], match[0]), text)
