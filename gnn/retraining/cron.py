"""Work on a timetable, in the foreground: cron's fields, through APScheduler."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schema.errors import BadSetting, MissingExtra

if TYPE_CHECKING:
    from apscheduler.triggers.base import BaseTrigger

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def run_on(cron: str, work: Callable[[], object], announce: Callable[[str], object]) -> None:
    """Run ``work`` whenever the timetable says so (UTC), until interrupted; never twice at once, a missed time once.

    Args:
        cron: minute, hour, day of month, month, day of week (0 and 7 are Sunday, as in crontab).
        announce: called with the next time (ISO 8601, or never), at the start and after each run.

    Raises:
        BadSetting: ``cron`` is no timetable.
        MissingExtra: APScheduler is not installed.
    """
    try:
        from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED
        from apscheduler.schedulers.blocking import BlockingScheduler
    except ModuleNotFoundError:
        raise MissingExtra("a timetable needs APScheduler: pip install 'lexgraph[train]'") from None
    trigger = trigger_of(cron)
    scheduler = BlockingScheduler(timezone="UTC")
    job = scheduler.add_job(work, trigger, max_instances=1, coalesce=True, misfire_grace_time=None)

    def announce_next(event: object = None) -> None:
        next_time = getattr(job, "next_run_time", None) or trigger.get_next_fire_time(None, datetime.now(UTC))
        announce("never" if next_time is None else next_time.isoformat(timespec="minutes"))

    scheduler.add_listener(announce_next, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
    announce_next()
    try:
        scheduler.start()
    except (KeyboardInterrupt, SystemExit):
        scheduler.shutdown(wait=False)


def trigger_of(cron: str) -> "BaseTrigger":
    """Return the times of a crontab line: where it names days of the month and of the week, those of either, as cron has it.

    Raises:
        BadSetting: the line is no timetable.
    """
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    fields = cron.split()
    if len(fields) != 5:
        raise BadSetting(f"not a timetable: {cron!r} (five fields: minute, hour, day of month, month, day of week)")
    minute, hour, day, month, weekday = fields
    try:
        weekdays = _days_of_week(weekday)
        if day.startswith("*") or weekday.startswith("*"):
            return CronTrigger.from_crontab(f"{minute} {hour} {day} {month} {weekdays}", timezone="UTC")
        either = (f"{minute} {hour} {day} {month} *", f"{minute} {hour} * {month} {weekdays}")
        return OrTrigger([CronTrigger.from_crontab(times, timezone="UTC") for times in either])
    except ValueError as error:
        raise BadSetting(f"not a timetable: {cron!r} ({error})") from None


def _days_of_week(field: str) -> str:
    """Return names for numbers: cron counts from Sunday, APScheduler from Monday."""
    days: list[str] = []
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = 0, 6
        else:
            ends = [_day(end) for end in span.split("-")]
            first, last = ends[0], ends[-1]
        if last < first:
            last += 7
        days += [_DAYS[day % 7] for day in range(first, last + 1, int(step or 1))]
    return ",".join(dict.fromkeys(days))


def _day(name: str) -> int:
    if name in _DAYS:
        return _DAYS.index(name)
    number = int(name)
    if not 0 <= number <= 7:
        raise ValueError(f"no day of the week: {name}")
    return number
