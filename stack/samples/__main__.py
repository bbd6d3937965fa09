"""Make the sample incidents, once for each database: `python -m stack.samples`."""

import os

import django


def main() -> None:
    """Make what is not there yet."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

    from django.utils import timezone

    from stack.samples import making, sample_file

    making.make(sample_file.read(), now=timezone.now())


if __name__ == "__main__":
    main()
