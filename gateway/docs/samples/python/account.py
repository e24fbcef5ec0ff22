import os

from partnergifting import Client

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])

# sample: getMe
me = client.account.me()
print(me["tenant"]["name"], me["key"]["scopes"], me["environment"])
# end

# sample: listBrands
for brand in client.brands.list():
    print(brand["id"], brand["name"])
# end
