import os

from partnergifting import Client

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
cursor: str | None = None

# sample: nextEvents
page = client.events.list(after=cursor, limit=1, wait=5)
for event in page.items:
    print(event["type"], event["data"])
cursor = page.next_cursor
# end

# sample: endOfFeed
cursor = client.events.list(from_="end").next_cursor
# end
cursor = None

# sample: listEvents
from partnergifting import Event


def handle(event: Event) -> None:
    if event["type"] == "order.status_changed":
        print(event["data"]["order"]["id"], event["data"]["previousStatus"], event["data"]["order"]["status"])
    elif event["type"] == "order.created":
        print(event["data"]["id"], event["data"]["status"])


# Without follow=False, it waits for new events and never ends.
feed = client.events.feed(after=cursor, follow=False)
for page in feed.pages():
    for event in page.items:
        handle(event)
    cursor = page.next_cursor  # Store it with what you have done, in one transaction.
# end
