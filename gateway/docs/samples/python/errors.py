import os

from partnergifting import Client

client = Client(os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"])

# sample: handleErrors
from partnergifting import ApiError, NoAnswerError, retryable

try:
    client.orders.list(limit=101).first()
except ApiError as error:
    print(error.code, error.request_id, error.field("limit"))
    print("worth repeating later:", retryable(error))
except NoAnswerError as error:
    print("a POST may have taken effect: repeat it with", error.idempotency_key)
# end
