import hashlib
import hmac
import json
import os
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

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
    # body and headers are those of your framework's request. It raises WebhookVerificationError if that is not genuine.
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

local_secret = "0" * 64


class Receiver(BaseHTTPRequestHandler):
    """Accepts what is signed by the relay."""

    def do_POST(self) -> None:
        webhooks.verify(self.rfile.read(int(self.headers["Content-Length"])), self.headers.items(), local_secret)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


local = ThreadingHTTPServer(("localhost", 0), Receiver)
threading.Thread(target=local.serve_forever, daemon=True).start()
receiver = f"http://localhost:{local.server_port}/webhooks"

# sample: relayEvents
# Without follow=False, it waits for new events and never ends.
for event in client.events.feed(follow=False):
    body = json.dumps(event).encode()
    at = int(time.time())
    v1 = hmac.new(local_secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "Service-Signature": f"t={at},v1={v1}"}
    answer = httpx.post(receiver, content=body, headers=headers)
    print(event["type"], answer.status_code)
# end
local.shutdown()
