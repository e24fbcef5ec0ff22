import os

from partnergifting import Client

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
campaign_id = os.environ["GIFTING_CAMPAIGN_ID"]

# sample: createPersonalLinks
batch = client.personal_links.create(
    {
        "campaignId": campaign_id,
        "recipients": [
            {"label": "Ann", "externalRecipientId": "player-42"},
            {"label": "Bo", "externalRecipientId": "player-43", "locale": "sv-SE"},
        ],
    }
)
for result in batch["results"]:
    print(result["index"], result["link"]["claimUrl"] if result["outcome"] == "CREATED" else result["errors"])
# end

ann = batch["results"][0]
assert ann["outcome"] == "CREATED"
link_id = ann["link"]["id"]
# sample: listPersonalLinks
for link in client.personal_links.list(external_recipient_id="player-42"):
    print(link["claimUrl"], link["status"])
# end

# sample: getPersonalLink
read = client.personal_links.get(link_id)
print(read["status"], read["orderId"])
# end

# sample: cancelPersonalLink
client.personal_links.cancel(link_id, {"reason": "The player has left."})
# end
