import os
import time

from partnergifting import Client, models

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
brand_id = os.environ["GIFTING_BRAND_ID"]
product_id = os.environ["GIFTING_PRODUCT_ID"]
product = client.catalog.product(product_id, country="SE")
variations = {variation["dimension"]: variation["values"][0] for variation in product["variations"]}
external_order_id = f"sample-python-{time.time_ns()}"
request: models.PlaceOrderRequest = {
    "externalOrderId": external_order_id,
    "brandId": brand_id,
    "items": [{"productId": product_id, "variations": variations}],
    "client": {"name": "Ann Berg"},
    "recipient": {
        "name": "Ann Berg",
        "phone": "+46 70 123 45 67",
        "address": {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"},
    },
}

# sample: validateOrder
validation = client.orders.validate(request)
for problem in validation["problems"]:
    print(problem["code"], problem["detail"])
# end

# sample: placeOrder
order = client.orders.place(
    {
        "externalOrderId": external_order_id,  # your id of the order
        "brandId": brand_id,
        "items": [{"productId": product_id, "variations": variations}],
        "client": {"name": "Ann Berg"},
        "recipient": {
            "name": "Ann Berg",
            "phone": "+46 70 123 45 67",
            "address": {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"},
        },
    },
    idempotency_key=external_order_id,  # Stored before the call, it makes the call safe to repeat after a crash.
)
print(order["reference"], order["status"])
# end

currency = client.account.me()["tenant"]["currency"]
# sample: placeCustomOrder
custom = client.orders.place(
    {
        "externalOrderId": f"custom-{external_order_id}",
        "externalActionRef": "sandbox:auto",
        "brandId": brand_id,
        "items": [
            {
                "customProductName": "A football signed by the whole team",
                "budget": {"amount": "150.00", "currency": currency},
            }
        ],
        "client": {"name": "Ann Berg"},
        "recipient": {
            "name": "Ann Berg",
            "phone": "+46 70 123 45 67",
            "address": {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"},
        },
    },
    idempotency_key=f"custom-{external_order_id}",
)
print(custom["id"], custom["reference"])
# end

# sample: forcedAnswer
# The order is placed, but the answer is lost: the client sends it again with the same Idempotency-Key.
client.orders.place(
    {**request, "externalOrderId": f"forced-{external_order_id}"},
    sandbox_fault="lost",
    on_response=lambda response: print(response.attempts, response.replayed),  # 2 True
)
# end

order_id = order["id"]
# sample: listOrders
for found in client.orders.list(status="PROCESSING"):
    print(found["reference"], found["status"])
# end

# sample: getOrder
read = client.orders.get(order_id)
print(read["status"], [shipment["trackingUrl"] for shipment in read["shipments"]])
# end

# sample: updateDelivery
corrected = client.orders.update_delivery(
    order_id,
    {"expectedVersion": order["version"], "recipient": {"address": {"street": "Storgatan 2"}}},
)
print(corrected["version"])
# end

# sample: postOrderMessage
client.orders.post_message(order_id, {"body": "Please wrap it in blue."})
# end

# sample: listOrderMessages
for message in client.orders.messages(order_id):
    print(message["author"]["name"], message["body"])
# end

# sample: cancelOrder
from partnergifting import ApiError

try:
    client.orders.cancel(order_id, {"reason": "Another reward."})
except ApiError as error:
    if error.code != "not_cancellable":
        raise
    print("too late:", error.current_status)
# end
