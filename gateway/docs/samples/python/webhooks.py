import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from partnergifting import Client, WebhookVerificationError, webhooks

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])

# sample: testWebhook
outcome = client.webhooks.test()
print(outcome["responseStatus"], outcome["error"])
# end

# sample: getWebhookHealth
health = client.webhooks.health()
print(health["state"], health["failingSince"], health["pending"])
# end

# sample: listWebhookDeliveries
for exhausted in client.webhooks.deliveries(state="EXHAUSTED"):
    print(exhausted["id"], exhausted["type"], [attempt["status"] for attempt in exhausted["attempts"]])
# end

delivery_id = client.webhooks.deliveries().first().items[0]["id"]
# sample: resendWebhookDelivery
delivery = client.webhooks.resend(delivery_id)
print(delivery["state"])
# end

to = datetime.now(timezone.utc)
start = to - timedelta(minutes=1)
# sample: replayWebhooks
replayed = client.webhooks.replay({"from": start.isoformat(), "to": to.isoformat()})
print(replayed["deliveries"], "are sent again")
# end

# sample: rotateOwnWebhookSecret
secret = client.webhooks.rotate_secret({"overlapSeconds": 86_400})["secret"]
if secret is None:
    raise RuntimeError("Only the first response has the secret: rotate again.")
print("store the new secret,", len(secret), "characters")
# end


def receive(body: bytes, headers: Mapping[str, str]) -> None:
    # sample: verifyWebhook
    # body is raw. headers are a dictionary, pairs, or the object of your framework or of http.server.
    # It raises WebhookVerificationError if the request is not genuine.
    event = webhooks.verify(body, headers, os.environ["GIFTING_WEBHOOK_SECRET"])
    if event["type"] == "order.status_changed":
        print(event["data"]["order"]["status"])
    # end


try:
    receive(b"{}", {})
except WebhookVerificationError as refusal:
    print(refusal)
else:
    raise RuntimeError("a request without a signature was not refused")
