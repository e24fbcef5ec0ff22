import os

from partnergifting import Client, Event

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
cursor: str | None = None


def handle(event: Event) -> None:
    if event["type"] == "order.status_changed":
        print(event["data"]["previousStatus"], event["data"]["order"]["status"])


# sample: endOfFeed
end = client.events.list(from_="end")
print(end.next_cursor)
# end

# sample: listEvents
# Without follow=False, it waits for new events and never ends.
feed = client.events.feed(after=cursor, follow=False)
for page in feed.pages():
    for event in page.items:
        handle(event)
    cursor = page.next_cursor  # Store it with what you have done, in one transaction.
# end
