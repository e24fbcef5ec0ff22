import os

from partnergifting import Client

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])
campaign_id = os.environ["GIFTING_CAMPAIGN_ID"]
product_id = os.environ["GIFTING_PRODUCT_ID"]

# sample: listCampaigns
for summary in client.campaigns.list(status="ACTIVE"):
    print(summary["id"], summary["name"])
# end

# sample: getCampaign
campaign = client.campaigns.get(campaign_id, locale="sv-SE")
for offering in campaign["offerings"]:
    print(offering["name"], offering["status"], [sku["stockRemaining"] for sku in offering["skus"]])
# end


# sample: listProducts
from partnergifting import models


class Shop:
    def __init__(self) -> None:
        self.gifts: dict[str, models.Product] = {}

    def put(self, product: models.Product) -> None:
        self.gifts[product["id"]] = product

    def remove(self, product_id: str) -> None:
        self.gifts.pop(product_id, None)


# Loads the catalog of a country. Later calls, with the position that this one returned, read only changes.
shop = Shop()
position = client.catalog.sync({"country": "SE", "locale": "sv-SE"}, shop)
print(len(shop.gifts), "gifts; next time from", position.get("updatedSince"))
# end

# sample: getProduct
product = client.catalog.product(product_id, country="SE")
print(product["name"], product["estimate"], product["variations"])
# end

# sample: listCategories
for category in client.catalog.categories(locale="sv-SE"):
    print(category["name"], len(category["subcategories"]))
# end

file_id = product["images"][0]["url"].rpartition("/")[2]
# sample: getImage
image = client.catalog.image(file_id)
print(image.content_type, len(image.data))
# end
