import os
import time

from partnergifting import Client

# Orders and links of this key's tenant wait for approval.
client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY_APPROVAL"])
currency = client.account.me()["tenant"]["currency"]
brand_id = client.brands.list()[0]["id"]
order_id = client.orders.place(
    {
        "externalOrderId": f"sandbox-python-{time.time_ns()}",
        "brandId": brand_id,
        "items": [{"customProductName": "A signed football", "budget": {"amount": "1500.00", "currency": currency}}],
        "client": {"name": "Ann Berg"},
        "recipient": {
            "name": "Ann Berg",
            "phone": "+353 1 234 5678",
            "address": {"street": "1 Main Street", "city": "Dublin", "country": "IE"},
        },
    }
)["id"]

# sample: approveSandboxOrder
client.sandbox.approve_order(order_id)
# end

# sample: dispatchSandboxOrder
dispatched = client.sandbox.dispatch_order(order_id, {"carrier": "PostNord"})
print(dispatched["shipments"][0]["trackingReference"])
# end

# sample: correctSandboxTracking
client.sandbox.correct_tracking(order_id, {"trackingReference": "RR123456789SE"})
# end

# sample: deliverSandboxOrder
delivered = client.sandbox.deliver_order(order_id)
print(delivered["status"])
# end

# sample: correctSandboxStatus
client.sandbox.correct_status(order_id, {"status": "PROCESSING"})
# end

# sample: postSandboxMessage
client.sandbox.post_message(order_id, {"body": "We send it on Monday."})
# end

gifts = client.catalog.products(country="DE")
product_ids = [gift["id"] for gift in gifts if gift["listed"] and gift["available"]][:2]
batch = client.personal_links.create({"brandId": brand_id, "productIds": product_ids, "recipients": [{"label": "Ann"}]})
ann = batch["results"][0]
assert ann["outcome"] == "CREATED"
link_id = ann["link"]["id"]

# sample: approveSandboxPersonalLink
client.sandbox.approve_link(link_id)
# end

# sample: claimSandboxPersonalLink
claimed = client.sandbox.claim_link(link_id)
print(claimed["status"], claimed["orderId"])
# end

# Stock and gifts of the tenant of the first key.
client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
campaign_id, product_id = os.environ["GIFTING_CAMPAIGN_ID"], os.environ["GIFTING_PRODUCT_ID"]
offerings = client.campaigns.get(campaign_id)["offerings"]
sku_id = next(offering["skus"][0]["id"] for offering in offerings if offering["supplyType"] == "STOCKED")

# sample: setSandboxStock
client.sandbox.set_stock(campaign_id, {"skuId": sku_id, "stockRemaining": 1})
# end

# sample: unlistSandboxProduct
client.sandbox.unlist_product(product_id)
# end

# sample: relistSandboxProduct
client.sandbox.relist_product(product_id)
# end

# sample: setSandboxProductAvailable
client.sandbox.set_product_available(product_id, {"country": "SE", "available": True})
# end
