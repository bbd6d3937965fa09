"""Create the sample incidents, once per database: `python -m stack.samples`."""

import os

import django


def main() -> None:
    """Create what does not exist yet."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

    from django.utils import timezone

    from stack.samples import making, sample_file

    making.make(sample_file.read(), now=timezone.now())


if __name__ == "__main__":
    main()
