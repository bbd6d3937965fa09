"""`python -m stack.story.profiles STORY [FOLDER]`."""

import sys
from pathlib import Path

from stack.story import profiles


def main() -> int:
    """Write a story's files and print where they are."""
    story, folder, *_ = [*sys.argv[1:], "", ""]
    if story not in profiles.STORIES:
        print(f"Name one of the stories: {', '.join(profiles.STORIES)}.", file=sys.stderr)
        return 2
    for path in profiles.write(story, Path(folder or f".data/stories/{story}")):
        print(f"{path.stat().st_size:>9,}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
