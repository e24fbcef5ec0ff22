# sample: relayEvents
import base64
import hmac
import json
import os
import time

import httpx

from partnergifting import Client

receiver = "http://localhost:3000/webhooks"


def sign(content: str) -> bytes:
    return hmac.digest(os.environ["GIFTING_LOCAL_SECRET"].encode(), content.encode(), "sha256")


with Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"]) as client:
    for event in client.events.feed(from_="end"):
        members = dict(event)
        members["type"] = members.pop("originalType", event["type"])  # Of an event that this version does not know.
        body = json.dumps(members)
        at = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "Service-Event-Id": event["id"],
            "Service-Signature": f"t={at},v1={sign(f'{at}.{body}').hex()}",
            "Webhook-Id": event["id"],
            "Webhook-Timestamp": str(at),
            "Webhook-Signature": "v1," + base64.b64encode(sign(f"{event['id']}.{at}.{body}")).decode(),
        }
        answer = httpx.post(receiver, content=body, headers=headers)
        print(members["type"], answer.status_code, flush=True)
# end
