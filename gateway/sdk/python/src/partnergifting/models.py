# Generated from the OpenAPI document.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class FieldError(TypedDict):
    """One violation of one field."""

    field: str
    """Path of the field, such as `items[0].budget.currency`, or name of the parameter; empty for the whole body."""
    code: str
    """What is wrong with it. New codes may be added, so treat one that you do not know as `invalid`."""
    message: str
    """The violation in English. Not for parsing."""


class CustomField(TypedDict):
    """An order field of the tenant."""

    id: str
    """Send it as `fieldId` with an answer."""
    label: str
    """Label to show."""
    type: Literal['TEXT', 'CHECKBOX', 'DROPDOWN']
    """The kind of answer."""
    required: bool
    """Whether every order must answer it."""
    options: list[str]
    """The values of a dropdown; empty for the other types."""


class Key(TypedDict):
    """The API key. Neither the key itself nor its signing secret is ever returned."""

    id: int
    """Id of the key."""
    name: str
    """Name of the key."""
    prefix: str
    """Leading characters of the key, for recognition."""
    scopes: list[Literal['CATALOG', 'ORDERS', 'PERSONAL_LINKS']]
    """What the key may do."""
    brandIds: list[str] | None
    """The brands that the key reaches. `null` for every brand of the tenant, including later ones."""
    webhookUrl: str | None
    """Where the key's events are sent. It is set in the workspace. `null` if there is none."""


class Brand(TypedDict):
    """A brand of the tenant."""

    id: str
    """Send it as `brandId` with an order."""
    name: str
    """Name of the brand."""
    slug: str
    """Name of the brand for use in URLs."""
    primaryColour: str | None
    """Hex colour such as `#1A2B3C`; `null` for the default."""
    logoUrl: str | None
    """Absolute URL that opens without a key. `null` if there is no logo."""


Environment: TypeAlias = Literal['production', 'sandbox']
"""The environment of the key and of its records."""


class CampaignSummary(TypedDict):
    """A campaign without its offerings."""

    id: str
    """Send it as `campaignId` with an order."""
    brandId: str
    """The brand of orders from the campaign."""
    name: str
    """Name of the campaign."""
    status: Literal['DRAFT', 'ACTIVE', 'COMPLETED']
    """Only an `ACTIVE` campaign takes orders."""
    expiresAt: str | None
    """When the campaign completes by itself, also one in preparation. `null` if it never expires."""


class Sku(TypedDict):
    """A combination of the gift's variations."""

    id: str
    """Id of the combination."""
    variations: dict[str, str]
    """The chosen value per dimension, as an order must send it."""
    stockRemaining: int | None
    """Units left; `null` for on-demand offerings."""


class UnlistedProduct(TypedDict):
    """A gift that left the catalog."""

    id: str
    """Id of the gift."""
    listed: Literal[False]
    """Always false."""
    updatedAt: str
    """When it left."""


class Money(TypedDict):
    """An amount in one currency."""

    amount: str
    """Decimal with two places."""
    currency: str
    """ISO 4217 code."""


class Variation(TypedDict):
    """A dimension in which a gift varies, such as its size."""

    dimension: str
    """Name of the dimension."""
    values: list[str]
    """The values to choose from."""


class Image(TypedDict):
    """An image in one size."""

    url: str
    """Absolute URL that opens without a key."""
    width: int | None
    """Width in pixels. `null` for the original."""


class Subcategory(TypedDict):
    """A subcategory of gifts."""

    code: str
    """Code as in a product's `categories`, of the form `<CATEGORY>__<SUBCATEGORY>`."""
    name: str
    """Name, in the requested locale when translated."""


class AddressCorrection(TypedDict):
    """The members of the address to change."""

    street: NotRequired[str | None]
    """Street and number."""
    city: NotRequired[str | None]
    """City."""
    postalCode: NotRequired[str | None]
    """Postal code. An empty one keeps the stored one."""
    country: NotRequired[str | None]
    """ISO 3166-1 alpha-2. Must be the order's country."""


class CancelOrderRequest(TypedDict):
    """A cancellation."""

    reason: str
    """The reason. Everybody who sees the order sees it."""


class PostOrderMessageRequest(TypedDict):
    """A message to post."""

    body: str
    """Plain text."""


class PostedMessage(TypedDict):
    """A message that was posted."""

    id: str
    """Id of the message."""


class MessageAuthor(TypedDict):
    """Who wrote a message."""

    kind: Literal['API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM']
    """A key, the tenant's team, a client of the tenant, the service operator's team, or the platform itself."""
    name: str
    """Name of the key or the person. For the service operator's team it is the operator's name."""


class Budget(TypedDict):
    """An amount in the tenant's currency."""

    amount: str | float
    """Positive, below 10000000000, with at most two decimals, as a string or a number."""
    currency: str
    """The tenant's currency, ISO 4217."""


class OrderClient(TypedDict):
    """Who the gift is for."""

    name: str
    """Name."""
    email: NotRequired[str | None]
    """E-mail address."""


class OrderAddress(TypedDict):
    """A postal address."""

    street: str
    """Street and number."""
    city: str
    """City."""
    postalCode: NotRequired[str | None]
    """
    Its format is not checked. Required in AT, AU, BE, BG, BR, CA, CH, CN, CZ, DE, DK, EE, ES, FI, FR, GB, GR, HR,
    HU, ID, IL, IN, IS, IT, JP, KR, LT, LU, LV, MX, MY, NL, NO, NZ, PH, PL, PT, RO, SE, SG, SI, SK, TH, TR, UA, US,
    VN and ZA.

    """
    country: str
    """ISO 3166-1 alpha-2 in upper case."""


class OrderCustomization(TypedDict):
    """Wishes for a gift."""

    details: NotRequired[str | None]
    """What to put on it, or how."""


class CustomFieldAnswer(TypedDict):
    """The answer to one of the tenant's order fields."""

    fieldId: str
    """Id of the field."""
    textValue: NotRequired[str | None]
    """
    Answer to a `TEXT` field, at most 2000 characters, or the chosen option of a `DROPDOWN`. Options are compared in
    Unicode normalization form C.

    """
    checked: NotRequired[bool | None]
    """Answer to a `CHECKBOX`. If the field is required, send true or false."""


class OrderItem(TypedDict):
    """What was ordered."""

    kind: Literal['CATALOG', 'CUSTOM']
    """A gift of the catalog or a custom request."""
    productId: str | None
    """The gift. `null` for a custom request."""
    productName: str
    """The gift's name, or the text of the custom request."""
    variations: dict[str, str]
    """The chosen value per dimension."""


class Shipment(TypedDict):
    """A parcel on its way."""

    carrier: str
    """The carrier."""
    trackingReference: str
    """Reference to track it by."""
    trackingUrl: str
    """Where to track it."""


class OrderProblem(TypedDict):
    """A reason for which an order would be refused."""

    code: str
    """Stable name of the error, one of those of a problem document."""
    detail: str
    """What is wrong, in English. Not for parsing."""
    errors: list[FieldError]
    """The invalid fields, if the code has any."""
    orderId: str | None
    """On `external_order_id_conflict`, the existing order, if the key can see it."""


class PersonalLinkAnswer(TypedDict):
    """The answer to one of the tenant's order fields."""

    fieldId: str
    """Id of the field."""
    textValue: NotRequired[str | None]
    """
    Answer to a `TEXT` field, at most 2000 characters, or the chosen option of a `DROPDOWN`. Options are compared in
    Unicode normalization form C.

    """
    checked: NotRequired[bool | None]
    """Answer to a `CHECKBOX`. If the field is required, send true or false."""


class RecipientError(TypedDict):
    """One violation of a recipient."""

    field: str
    """Path within the recipient, such as `customFields[0].fieldId`."""
    code: str
    """A field code."""
    message: str
    """The violation in English. Not for parsing."""


class CancelPersonalLinkRequest(TypedDict):
    """A cancellation of a link."""

    reason: str
    """The reason, for the tenant's team only."""


class PersonalLink(TypedDict):
    """A link through which a player claims a gift."""

    id: str
    """Id of the link."""
    externalRecipientId: str | None
    """Your id of the player."""
    brandId: str
    """The brand of the claim page."""
    campaignId: str | None
    """The campaign. `null` for a link to a selection of the catalog."""
    selection: Literal['CATALOG'] | None
    """`CATALOG` for a link to a selection of the catalog. `null` for a link to a campaign."""
    status: Literal['REQUESTED', 'ACTIVE', 'CLAIMED', 'EXPIRED', 'CANCELLED']
    """A `REQUESTED` link waits for approval. An `ACTIVE` link waits for the player. `EXPIRED` is reserved."""
    claimUrl: str
    """The link to give to the player. It opens nothing once the person's data was erased on request."""
    orderId: str | None
    """The order that the claim placed. `null` until the link is `CLAIMED`."""
    createdAt: str
    """Time of creation."""
    approvedAt: str | None
    """Time of approval. `null` if the link needed no approval or still waits for it."""
    claimedAt: str | None
    """Time of the claim. `null` until then."""
    cancelledAt: str | None
    """Time of the cancellation. `null` unless the link is `CANCELLED`."""
    updatedAt: str
    """Time of the last change."""


class PersonalLinkCreatedEvent(TypedDict):
    """A personal link was created."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['personal_link.created']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: PersonalLink


class PersonalLinkApprovedEvent(TypedDict):
    """A personal link was approved."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['personal_link.approved']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: PersonalLink


class PersonalLinkClaimedEvent(TypedDict):
    """A player claimed a personal link."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['personal_link.claimed']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: PersonalLink


class PersonalLinkCancelledEvent(TypedDict):
    """A personal link was cancelled."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['personal_link.cancelled']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: PersonalLink


class UnknownEvent(TypedDict):
    """An event of a type that did not exist when this document was written. None is sent today."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: str
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: dict[str, Any]
    """Depends on the type."""


class TestWebhookRequest(TypedDict):
    """No members."""


class TestWebhookResult(TypedDict):
    """The outcome of a test."""

    responseStatus: int | None
    """HTTP status of the receiver. `null` if it did not answer."""
    error: str | None
    """What went wrong. `null` after a 2xx."""


class WebhookDeliveryAttempt(TypedDict):
    """One request to your receiver."""

    at: str
    """When the request began."""
    durationMs: int
    """How long it took."""
    status: int | None
    """HTTP status of your receiver. `null` if it did not answer."""
    error: str | None
    """What went wrong. `null` after a 2xx."""
    responseBody: str | None
    """The first 1024 bytes of your receiver's answer; bytes that are not UTF-8 are replaced. `null` if it did not answer."""


class WebhookHealth(TypedDict):
    """Whether a key's webhook works."""

    state: Literal['HEALTHY', 'FAILING', 'PAUSED', 'NONE']
    """`HEALTHY`: the last attempt was accepted, or there was none. `FAILING`: the last attempt failed. `PAUSED`: nothing is sent for a reason on our side; deliveries wait. `NONE`: the key has no webhook URL."""
    failingSince: str | None
    """When the first attempt failed since the last success. `null` unless `FAILING`."""
    lastSuccessAt: str | None
    """When the last attempt was accepted. `null` if none was in 30 days."""
    lastError: str | None
    """What went wrong in the last attempt that failed. `null` if none has in 30 days."""
    pending: int
    """How many deliveries wait. It is exact below 10000; 10000 means that many or more."""
    oldestPendingAt: str | None
    """When the oldest of them was made. `null` if none waits."""


class ResendWebhookDeliveryRequest(TypedDict):
    """No members."""


ReplayWebhooksRequest = TypedDict(
    'ReplayWebhooksRequest',
    {
        'from': str,
        'to': str,
        'types': NotRequired[list[Literal['order.created', 'order.status_changed', 'order.updated', 'order.message_posted', 'personal_link.created', 'personal_link.approved', 'personal_link.claimed', 'personal_link.cancelled']] | None],
    },
)


class ReplayWebhooksResult(TypedDict):
    """The result of a replay."""

    deliveries: int
    """How many deliveries are sent again."""


class RotateWebhookSecretRequest(TypedDict):
    """How long the previous secret also signs."""

    overlapSeconds: NotRequired[int | None]
    """How long the previous secret also signs. Absent means 0: it stops at once."""


class RotatedWebhookSecret(TypedDict):
    """A new signing secret."""

    secret: str | None
    """The new signing secret, 64 hex characters. `null` in a repeated response."""
    previousSecretsValidUntil: str | None
    """When the previous secret stops signing. `null` if it has stopped."""


class ApproveSandboxOrderRequest(TypedDict):
    """An approval has no members."""


class DispatchSandboxOrderRequest(TypedDict):
    """The shipment. Absent and blank members are made up."""

    carrier: NotRequired[str | None]
    """Name of the carrier."""
    trackingReference: NotRequired[str | None]
    """The carrier's reference."""
    trackingUrl: NotRequired[str | None]
    """An https address without credentials."""


class DeliverSandboxOrderRequest(TypedDict):
    """A delivery has no members."""


class CorrectSandboxTrackingRequest(TypedDict):
    """What changes about the shipment. Absent and blank members stay."""

    carrier: NotRequired[str | None]
    """Name of the carrier."""
    trackingReference: NotRequired[str | None]
    """The carrier's reference."""
    trackingUrl: NotRequired[str | None]
    """An https address without credentials."""


class CorrectSandboxStatusRequest(TypedDict):
    """A status correction."""

    status: Literal['REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED']
    """The status that the order gets."""


class PostSandboxMessageRequest(TypedDict):
    """A message of the service operator."""

    body: str
    """Plain text."""


class ApproveSandboxPersonalLinkRequest(TypedDict):
    """An approval has no members."""


class SetSandboxStockRequest(TypedDict):
    """The stock of a SKU."""

    skuId: str
    """A SKU of a `STOCKED` offering of the campaign."""
    stockRemaining: int
    """Units that are left."""


class UnlistSandboxProductRequest(TypedDict):
    """It has no members."""


class RelistSandboxProductRequest(TypedDict):
    """The country of the answer."""

    country: NotRequired[str | None]
    """ISO 3166-1 alpha-2; absent: the first to which the gift can be sent."""


class SetSandboxProductAvailableRequest(TypedDict):
    """Where a gift can be sent."""

    country: str
    """ISO 3166-1 alpha-2."""
    available: bool
    """Whether the gift can be sent to the country."""


class Problem(TypedDict):
    """
    An error (RFC 9457). Members without a value are left out. New codes may be added. Existing codes do not change.

    """

    type: str
    """Address of the cause and remedy of the code."""
    title: str
    """Short label of the code."""
    status: int
    """HTTP status."""
    code: str
    """Stable name of the error, to branch on. New codes may be added, so treat one that you do not know by its `status`."""
    detail: NotRequired[str]
    """What happened, in English. Not for parsing."""
    instance: NotRequired[str]
    """The `Request-Id` of the request. In a replayed response it is that of the first request."""
    errors: NotRequired[list[FieldError]]
    """All invalid fields, or the first 1,000 of more."""
    currentStatus: NotRequired[str]
    """On `not_editable`, `not_cancellable` and `precondition_failed`, the current status of the record."""
    orderId: NotRequired[str]
    """On `external_order_id_conflict`, the existing order, if the key can see it."""


class Tenant(TypedDict):
    """Settings of the tenant."""

    id: str
    """Id of the tenant."""
    name: str
    """Name of the tenant."""
    locales: list[str]
    """Locales of gifts and personal links. Always includes `en-US`."""
    currency: str
    """ISO 4217 currency of estimates and of budgets of custom requests."""
    approvalRequired: bool
    """Whether new orders and personal links wait for approval in `REQUESTED`."""
    customFields: list[CustomField]
    """The tenant's own order fields, in display order."""


class CampaignPage(TypedDict):
    """A page of campaigns."""

    items: list[CampaignSummary]
    """The campaigns of the page."""
    nextCursor: str | None
    """Cursor of the next page; `null` on the last."""


class Offering(TypedDict):
    """A gift in a campaign, without a price."""

    productId: str
    """Send it as `productId` with an order."""
    name: str
    """Name, in the requested locale if there is a translation."""
    images: list[Image]
    """The gift's images in several sizes."""
    status: Literal['ACTIVE', 'NEEDS_REVIEW']
    """`NEEDS_REVIEW` while the gift is suspended in this campaign after a change of the catalog."""
    supplyType: Literal['STOCKED', 'ON_DEMAND']
    """`STOCKED` has limited stock per SKU. `ON_DEMAND` is never limited."""
    skus: list[Sku]
    """The combinations of variations that are offered."""


class Product(TypedDict):
    """A gift of the catalog."""

    id: str
    """Send it as `productId` with an order."""
    name: str
    """Name, in the requested locale if there is a translation."""
    description: str
    """Description, in the requested locale if there is a translation."""
    listed: Literal[True]
    """Always true."""
    available: bool
    """Whether the gift can be supplied to the requested country."""
    priced: bool
    """Whether the gift has a price for the region of the country. Never while the catalog has no rate for the tenant's currency."""
    estimate: Money | None
    """Estimate in the tenant's currency at the catalog's rate of the day. `null` if the gift has no price. A change of rates does not change `updatedAt`."""
    estimateEur: Money | None
    """Estimate in EUR, the currency of the catalog's prices. `null` if the gift has no price."""
    variations: list[Variation]
    """Dimensions of the gift. An order must choose one value of each."""
    categories: list[str]
    """Codes of subcategories."""
    images: list[Image]
    """The gift's images in several sizes."""
    customizationAvailable: bool
    """Whether an order may send `customization`."""
    giftSet: bool
    """Whether the gift is a set of several."""
    readyToSend: bool
    """Whether the gift can be sent without further preparation."""
    updatedAt: str
    """Time of the last change."""


class Category(TypedDict):
    """A category of gifts."""

    code: str
    """Code of the category."""
    name: str
    """Name, in the requested locale when translated."""
    subcategories: list[Subcategory]
    """The subcategories of the category."""


class DeliveryCorrection(TypedDict):
    """The members of the recipient to change."""

    name: NotRequired[str | None]
    """Name."""
    phone: NotRequired[str | None]
    """Phone number in international format: `+`, country code, digits."""
    email: NotRequired[str | None]
    """E-mail address. An empty one keeps the stored one."""
    address: NotRequired[AddressCorrection | None]
    """The members of the address to change."""


class OrderMessage(TypedDict):
    """A text on an order."""

    id: str
    """Id of the message."""
    author: MessageAuthor
    body: str
    """Plain text."""
    createdAt: str
    """Time of posting."""


class OrderItemInput(TypedDict):
    """A gift of the catalog (`productId`, `variations`) or a custom request (`customProductName`, `budget`), never both."""

    productId: NotRequired[str | None]
    """The gift."""
    variations: NotRequired[dict[str, Any] | None]
    """
    One value for each dimension of the gift, spelled as in the catalog. Texts are compared in Unicode normalization
    form C. Everything else returns 422 `invalid_variations`.

    """
    customProductName: NotRequired[str | None]
    """What is wanted."""
    budget: NotRequired[Budget | None]
    """What it may cost. Required with `customProductName`."""


class OrderRecipient(TypedDict):
    """Where the gift ships."""

    name: str
    """Name."""
    phone: str
    """Phone number in international format: `+`, country code, digits."""
    email: NotRequired[str | None]
    """E-mail address."""
    address: OrderAddress


class Order(TypedDict):
    """An order, without name, e-mail address, phone number and street."""

    id: str
    """Id of the order."""
    reference: str
    """Reference of the order. Quote it when you contact the service operator."""
    version: int
    """0 when the order is placed. It grows with every change."""
    externalOrderId: str | None
    """Your id of the order. `null` if the order was not placed through the API."""
    externalRecipientId: str | None
    """Your id of the player, from the order or from the personal link it was claimed from."""
    externalCampaignRef: str | None
    """Your campaign reference."""
    externalActionRef: str | None
    """Your action reference."""
    source: Literal['API', 'PERSONAL_LINK', 'WORKSPACE', 'BACKOFFICE']
    """The channel: this API, a claimed link, the tenant's team or the service operator."""
    brandId: str
    """The brand the gift is sent under."""
    campaignId: str | None
    """The campaign that the order is from."""
    selection: Literal['CATALOG'] | None
    """`CATALOG` for an order claimed from a link to a selection of the catalog."""
    personalLinkId: str | None
    """The link whose claim placed the order."""
    status: Literal['REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED']
    """The status of the order."""
    items: list[OrderItem]
    """Exactly one item."""
    deliveryCountry: str
    """ISO 3166-1 alpha-2. The only part of the address that an order shows."""
    urgent: bool
    """Whether the order is urgent."""
    receivedOutsideActiveHours: bool
    """Whether the order arrived outside the opening hours of the service operator. Work on it starts when the operator opens."""
    shipments: list[Shipment]
    """At most one shipment. Empty until the order is dispatched, and after a person's data was erased."""
    cancellationReason: str | None
    """`null` unless `CANCELLED`."""
    createdAt: str
    """Time of placement."""
    updatedAt: str
    """Time of the last change."""


class OrderValidation(TypedDict):
    """What would become of an order."""

    valid: bool
    """Whether the order would be placed now. Then there are no problems."""
    status: Literal['REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED']
    """The status in which the order would begin, `REQUESTED` or `PROCESSING`."""
    estimate: Money | None
    """Estimate of the gift in the tenant's currency, as in the catalog. `null` for a custom request, and if the gift is unpriced or not available."""
    estimateEur: Money | None
    """The estimate in EUR."""
    receivedOutsideActiveHours: bool
    """Whether an order that arrives now is outside the service operator's active hours."""
    problems: list[OrderProblem]
    """Everything that is wrong. The first is what `POST /orders` would return."""
    ignored: list[str]
    """Members of the body that mean nothing here, perhaps because they are misspelt, as in `Ignored-Members`."""


class PersonalLinkRecipient(TypedDict):
    """Who gets a link."""

    label: str
    """Name shown on the claim page."""
    externalRecipientId: NotRequired[str | None]
    """Your id of the player. The claimed order shows it."""
    email: NotRequired[str | None]
    """E-mail address, unique within the batch. Nothing is sent to it."""
    message: NotRequired[str | None]
    """Note shown on the claim page."""
    locale: NotRequired[str | None]
    """One of the tenant's `locales`. The default is `en-US`. A page without texts in it is in the closest language, usually English."""
    customFields: NotRequired[list[PersonalLinkAnswer] | None]
    """Answers to the tenant's order fields, at most one per field. An answer to an unknown `fieldId` is ignored, whatever it holds."""
    managerEmail: NotRequired[str | None]
    """E-mail address of an active team member. This person manages the link and then its order."""


class CreatedPersonalLink(TypedDict):
    """A recipient who got a link."""

    index: int
    """Index in `recipients`, from 0."""
    externalRecipientId: str | None
    """The value that you sent."""
    outcome: Literal['CREATED']
    """The recipient has a link."""
    link: PersonalLink


class RejectedRecipient(TypedDict):
    """A recipient who got no link."""

    index: int
    """Index in `recipients`, from 0."""
    externalRecipientId: str | None
    """The value that you sent."""
    outcome: Literal['REJECTED']
    """The recipient has no link."""
    errors: list[RecipientError]
    """The violations of the recipient, at most 50."""


class PersonalLinkPage(TypedDict):
    """A page of links."""

    items: list[PersonalLink]
    """The links of the page."""
    nextCursor: str | None
    """Cursor of the next page; `null` on the last."""


class OrderCreatedEvent(TypedDict):
    """An order was placed."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['order.created']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: Order


class OrderUpdatedEvent(TypedDict):
    """An order was corrected."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['order.updated']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: Order


class OrderStatusChanged(TypedDict):
    """A change of an order's status."""

    order: Order
    previousStatus: Literal['REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED']
    """The status before."""


class OrderMessagePosted(TypedDict):
    """A message on an order."""

    orderId: str
    """Id of the order."""
    externalOrderId: str | None
    """Your id of the order. `null` if the order was not placed through the API."""
    message: OrderMessage


class WebhookDelivery(TypedDict):
    """One event for this key's webhook."""

    id: str
    """Id of the delivery. It is of use only with this key."""
    eventId: str
    """Id of the event, as in `Service-Event-Id` and in the feed."""
    type: str
    """Type of the event."""
    occurredAt: str
    """Time of the change."""
    state: Literal['PENDING', 'DELIVERED', 'EXHAUSTED', 'DROPPED']
    """`PENDING`: an attempt is due or in flight. `DELIVERED`: your receiver answered 2xx. `EXHAUSTED`: all attempts failed. `DROPPED`: the webhook URL was removed."""
    attempts: list[WebhookDeliveryAttempt]
    """The last attempts, the oldest first."""
    nextAttemptAt: str | None
    """When the next attempt is due. `null` unless the delivery is `PENDING`."""


class ClaimSandboxPersonalLinkRequest(TypedDict):
    """What the player would choose."""

    productId: NotRequired[str | None]
    """One of the link's gifts. Required with `variations`."""
    variations: NotRequired[dict[str, Any] | None]
    """One value for each dimension of the gift."""
    recipient: NotRequired[OrderRecipient | None]
    """Where the gift ships."""


class Me(TypedDict):
    """The calling key and what it works with."""

    tenant: Tenant
    key: Key
    environment: Environment


class Campaign(TypedDict):
    """A campaign with the gifts it offers."""

    id: str
    """Send it as `campaignId` with an order."""
    brandId: str
    """The brand of orders from the campaign."""
    name: str
    """Name of the campaign."""
    status: Literal['DRAFT', 'ACTIVE', 'COMPLETED']
    """Only an `ACTIVE` campaign takes orders."""
    expiresAt: str | None
    """When the campaign completes by itself, also one in preparation. `null` if it never expires."""
    offerings: list[Offering]
    """The gifts in display order."""


ProductEntry: TypeAlias = Product | UnlistedProduct
"""A gift, or with `updatedSince` a gift that left the catalog. `listed` says which."""


class UpdateDeliveryRequest(TypedDict):
    """A correction of where and how an order is delivered."""

    expectedVersion: int
    """The `version` of the order that you correct."""
    recipient: NotRequired[DeliveryCorrection | None]
    """The members of the recipient to change."""
    courierComment: NotRequired[str | None]
    """Note for the courier. An empty one clears it."""
    urgent: NotRequired[bool | None]
    """Whether the order is urgent."""


class PlaceOrderRequest(TypedDict):
    """An order to place."""

    externalOrderId: str
    """Your id of the order, unique in the tenant."""
    externalRecipientId: NotRequired[str | None]
    """Your id of the player, to filter lists by."""
    externalCampaignRef: NotRequired[str | None]
    """Your campaign reference."""
    externalActionRef: NotRequired[str | None]
    """Your action reference."""
    campaignId: NotRequired[str | None]
    """The campaign to order from. Not with a custom request."""
    brandId: NotRequired[str | None]
    """Required without `campaignId`. With it, leave it out or send the campaign's brand."""
    items: list[OrderItemInput]
    """Exactly one item."""
    client: OrderClient
    recipient: OrderRecipient
    managerEmail: NotRequired[str | None]
    """E-mail address of an active team member. This person then owns the order."""
    courierComment: NotRequired[str | None]
    """Note for the courier."""
    additionalDetails: NotRequired[str | None]
    """Note for the service operator."""
    urgent: NotRequired[bool | None]
    """Whether the order is urgent. Absent means `false`."""
    afterHoursServiceAccepted: NotRequired[bool | None]
    """Whether the client accepts delivery work outside office hours. Absent means `false`."""
    brandedPackagingRequested: NotRequired[bool | None]
    """Whether branded packaging is wanted. Absent means `false`."""
    customization: NotRequired[OrderCustomization | None]
    """Wishes for a gift with `customizationAvailable`. Without `details` it counts as absent."""
    customFields: NotRequired[list[CustomFieldAnswer] | None]
    """Answers to the tenant's order fields, at most one per field. An answer to an unknown `fieldId` is ignored, whatever it holds."""


class OrderPage(TypedDict):
    """A page of orders."""

    items: list[Order]
    """The orders of the page."""
    nextCursor: str | None
    """Cursor of the next page; `null` on the last."""


class CreatePersonalLinksRequest(TypedDict):
    """A batch of links."""

    campaignId: NotRequired[str | None]
    """The campaign to choose from, instead of `brandId` with `productIds`."""
    brandId: NotRequired[str | None]
    """The brand of the claim page, with `productIds`."""
    productIds: NotRequired[list[str] | None]
    """
    The gifts to choose from, with `brandId`, in display order. An empty array returns 422 `no_products`, more than
    1000 ids 400 `invalid_request`.

    """
    recipients: list[PersonalLinkRecipient]
    """1 to 1000 recipients. If it is absent or empty, the response is 422 `no_recipients`."""


PersonalLinkResult: TypeAlias = CreatedPersonalLink | RejectedRecipient
"""The outcome for one recipient. `outcome` says which."""


class OrderStatusChangedEvent(TypedDict):
    """The status of an order changed."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['order.status_changed']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: OrderStatusChanged


class OrderMessagePostedEvent(TypedDict):
    """A message was posted."""

    id: str
    """Id of the event. Drop events whose id you have already seen."""
    type: Literal['order.message_posted']
    """The type of the event."""
    occurredAt: str
    """Time of the change, equal to the record's `updatedAt`."""
    environment: Environment
    data: OrderMessagePosted


class WebhookDeliveryPage(TypedDict):
    """A page of deliveries."""

    items: list[WebhookDelivery]
    """The deliveries of the page."""
    nextCursor: str | None
    """Cursor of the next page; `null` on the last."""


class ProductPage(TypedDict):
    """A page of gifts."""

    items: list[ProductEntry]
    """The entries of the page."""
    nextCursor: str | None
    """Cursor of the next page; `null` on the last."""


class PersonalLinkResults(TypedDict):
    """The outcomes of a batch."""

    results: list[PersonalLinkResult]
    """One for each recipient, in their order."""


FeedEvent: TypeAlias = OrderCreatedEvent | OrderStatusChangedEvent | OrderUpdatedEvent | OrderMessagePostedEvent | PersonalLinkCreatedEvent | PersonalLinkApprovedEvent | PersonalLinkClaimedEvent | PersonalLinkCancelledEvent | UnknownEvent
"""
An event of the feed. New types may be added within this version. An event whose type you do not know is an `UnknownEvent`:
ignore it.

"""


class EventPage(TypedDict):
    """A page of the feed."""

    items: list[FeedEvent]
    """The events of the page."""
    nextCursor: str | None
    """Pass it as `after` to read on. `null` only while the feed is empty and no `after` was sent."""
