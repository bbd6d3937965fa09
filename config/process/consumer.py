"""Celery's consumer of messages without the step that prepares RabbitMQ for tasks of a later time: there are none.

For quorum queues it would declare 28 queues and as many exchanges at each start of a worker.
"""

from typing import Final

from celery.worker import consumer

LATER: Final = "celery.worker.consumer.delayed_delivery:DelayedDelivery"
STEPS: Final = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != LATER)


class Consumer(consumer.Consumer):
    """The consumer of this project's workers."""

    Blueprint = type("Blueprint", (consumer.Consumer.Blueprint,), {"default_steps": STEPS})
