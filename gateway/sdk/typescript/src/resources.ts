import type {
  Brand,
  Campaign,
  CampaignSummary,
  CancelOrderRequest,
  CancelPersonalLinkRequest,
  Category,
  ClaimSandboxPersonalLinkRequest,
  CorrectSandboxStatusRequest,
  CorrectSandboxTrackingRequest,
  CreatePersonalLinksRequest,
  DispatchSandboxOrderRequest,
  Me,
  Order,
  OrderMessage,
  OrderValidation,
  PersonalLink,
  PersonalLinkResults,
  PlaceOrderRequest,
  PostOrderMessageRequest,
  PostSandboxMessageRequest,
  PostedMessage,
  Product,
  ProductEntry,
  RelistSandboxProductRequest,
  ReplayWebhooksRequest,
  ReplayWebhooksResult,
  RotateWebhookSecretRequest,
  RotatedWebhookSecret,
  SetSandboxProductAvailableRequest,
  SetSandboxStockRequest,
  TestWebhookResult,
  UnlistedProduct,
  UpdateDeliveryRequest,
  WebhookDelivery,
  WebhookHealth,
} from "./core.js";
import type { Filter, WithDates } from "./input.js";
import { List } from "./pages.js";
import type { ActionOptions, AnyOptions, CallOptions, PostOptions, ReadOptions, Request, Transport } from "./transport.js";

async function data<T>(http: Transport, request: Request, options: AnyOptions | undefined): Promise<T> {
  return (await http.send<T>(request, options)).data;
}

function list<T>(http: Transport, path: Request["path"], query: { after?: string | undefined } | undefined, options: CallOptions | undefined): List<T> {
  http.check({ method: "GET", path, query }, options); // At once, not when the list is read.
  return new List((after) => data(http, { method: "GET", path, query: { ...query, after } }, options), query?.after);
}

export class Account {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** The key in use, its tenant's settings and the environment. */
  me(options?: ReadOptions): Promise<Me> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/me" }, options);
  }
}

export class Brands {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** The brands that the key reaches. */
  list(options?: ReadOptions): Promise<Brand[]> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/brands" }, options);
  }
}

export class Campaigns {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Campaigns, the newest first. */
  list(query: Filter<"listCampaigns"> = {}, options?: CallOptions): List<CampaignSummary> {
    return list(this.#http, "/campaigns", query, options);
  }

  /** A campaign with its gifts. */
  get(campaignId: string, query: Filter<"getCampaign"> = {}, options?: ReadOptions): Promise<Campaign> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/campaigns/{campaignId}", params: { campaignId }, query }, options);
  }
}

export class Catalog {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** The gifts for a country of delivery. With `updatedSince`, those that changed or left the catalog since. */
  products(query: Filter<"listProducts">, options?: CallOptions): List<ProductEntry> {
    return list(this.#http, "/catalog/products", query, options);
  }

  /** A gift. */
  product(productId: string, query: Filter<"getProduct">, options?: ReadOptions): Promise<Product> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/catalog/products/{productId}", params: { productId }, query }, options);
  }

  /** The categories of gifts, in display order. */
  categories(query: Filter<"listCategories"> = {}, options?: ReadOptions): Promise<Category[]> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/catalog/categories", query }, options);
  }
}

export class Orders {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Places an order. */
  place(body: PlaceOrderRequest, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/orders", body }, options);
  }

  /** Makes all checks of `place`, without placing an order. */
  validate(body: PlaceOrderRequest, options?: CallOptions): Promise<OrderValidation> {
    return data(this.#http, { method: "POST", path: "/orders:validate", withoutKey: true, body }, options);
  }

  /** Orders, the newest first. */
  list(query: Filter<"listOrders"> = {}, options?: CallOptions): List<Order> {
    return list(this.#http, "/orders", query, options);
  }

  /** An order. */
  get(orderId: string, options?: ReadOptions): Promise<Order> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/orders/{orderId}", params: { orderId } }, options);
  }

  /** Corrects delivery details of an order in `PROCESSING`. */
  updateDelivery(orderId: string, body: UpdateDeliveryRequest, options?: ActionOptions): Promise<Order> {
    return data(this.#http, { method: "POST", condition: "ifMatch", path: "/orders/{orderId}:update-delivery", params: { orderId }, body }, options);
  }

  /** Cancels an order. */
  cancel(orderId: string, body: CancelOrderRequest, options?: ActionOptions): Promise<Order> {
    return data(this.#http, { method: "POST", condition: "ifMatch", path: "/orders/{orderId}:cancel", params: { orderId }, body }, options);
  }

  /** The messages on an order, the oldest first. */
  messages(orderId: string, options?: CallOptions): Promise<OrderMessage[]> {
    return data(this.#http, { method: "GET", path: "/orders/{orderId}/messages", params: { orderId } }, options);
  }

  /** Posts a message on an order. */
  postMessage(orderId: string, body: PostOrderMessageRequest, options?: ActionOptions): Promise<PostedMessage> {
    return data(this.#http, { method: "POST", condition: "ifMatch", path: "/orders/{orderId}/messages", params: { orderId }, body }, options);
  }
}

export class PersonalLinks {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Creates links. A recipient can be rejected while others get a link: read `results`. */
  create(body: CreatePersonalLinksRequest, options?: PostOptions): Promise<PersonalLinkResults> {
    return data(this.#http, { method: "POST", path: "/personal-links:create-batch", body }, options);
  }

  /** Personal links, the newest first, or with `updatedSince` the oldest change first. */
  list(query: Filter<"listPersonalLinks"> = {}, options?: CallOptions): List<PersonalLink> {
    return list(this.#http, "/personal-links", query, options);
  }

  /** A personal link. */
  get(linkId: string, options?: ReadOptions): Promise<PersonalLink> {
    return data(this.#http, { method: "GET", condition: "ifNoneMatch", path: "/personal-links/{linkId}", params: { linkId } }, options);
  }

  /** Withdraws a personal link. */
  cancel(linkId: string, body: CancelPersonalLinkRequest, options?: PostOptions): Promise<PersonalLink> {
    return data(this.#http, { method: "POST", path: "/personal-links/{linkId}:cancel", params: { linkId }, body }, options);
  }
}

export class Webhooks {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Sends a signed `ping` to the key's webhook URL, and returns the outcome. */
  test(options?: PostOptions): Promise<TestWebhookResult> {
    return data(this.#http, { method: "POST", path: "/webhooks:test" }, options);
  }

  /** What was sent to the key's webhook and what waits, the newest event first. */
  deliveries(query: Filter<"listWebhookDeliveries"> = {}, options?: CallOptions): List<WebhookDelivery> {
    return list(this.#http, "/webhooks/deliveries", query, options);
  }

  /** Whether the key's webhook works. */
  health(options?: CallOptions): Promise<WebhookHealth> {
    return data(this.#http, { method: "GET", path: "/webhooks/health" }, options);
  }

  /** Sends a delivery again. */
  resend(deliveryId: string, options?: PostOptions): Promise<WebhookDelivery> {
    return data(this.#http, { method: "POST", path: "/webhooks/deliveries/{deliveryId}:resend", params: { deliveryId }, body: {} }, options);
  }

  /** Sends the deliveries of a time span again. */
  replay(body: WithDates<ReplayWebhooksRequest>, options?: PostOptions): Promise<ReplayWebhooksResult> {
    return data(this.#http, { method: "POST", path: "/webhooks:replay", body }, options);
  }

  /** Makes a new signing secret, which is only in the first response. */
  rotateSecret(body: RotateWebhookSecretRequest = {}, options?: PostOptions): Promise<RotatedWebhookSecret> {
    return data(this.#http, { method: "POST", path: "/webhooks:rotate-secret", body }, options);
  }
}

/** What people do in production, only in the sandbox. */
export class Sandbox {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Approves an order. */
  approveOrder(orderId: string, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:approve", params: { orderId }, body: {} }, options);
  }

  /** Dispatches an order. */
  dispatchOrder(orderId: string, body: DispatchSandboxOrderRequest = {}, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:dispatch", params: { orderId }, body }, options);
  }

  /** Delivers an order. */
  deliverOrder(orderId: string, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:deliver", params: { orderId }, body: {} }, options);
  }

  /** Corrects the shipment of a sent order. */
  correctTracking(orderId: string, body: CorrectSandboxTrackingRequest = {}, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:correct-tracking", params: { orderId }, body }, options);
  }

  /** Sets any status of an order. */
  correctStatus(orderId: string, body: CorrectSandboxStatusRequest, options?: PostOptions): Promise<Order> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:correct-status", params: { orderId }, body }, options);
  }

  /** Posts a message as the service operator. */
  postMessage(orderId: string, body: PostSandboxMessageRequest, options?: PostOptions): Promise<PostedMessage> {
    return data(this.#http, { method: "POST", path: "/sandbox/orders/{orderId}:post-message", params: { orderId }, body }, options);
  }

  /** Approves a personal link. */
  approveLink(linkId: string, options?: PostOptions): Promise<PersonalLink> {
    return data(this.#http, { method: "POST", path: "/sandbox/personal-links/{linkId}:approve", params: { linkId }, body: {} }, options);
  }

  /** Claims a personal link, as its player. */
  claimLink(linkId: string, body: ClaimSandboxPersonalLinkRequest = {}, options?: PostOptions): Promise<PersonalLink> {
    return data(this.#http, { method: "POST", path: "/sandbox/personal-links/{linkId}:claim", params: { linkId }, body }, options);
  }

  /** Sets the stock of a SKU. */
  setStock(campaignId: string, body: SetSandboxStockRequest, options?: PostOptions): Promise<Campaign> {
    return data(this.#http, { method: "POST", path: "/sandbox/campaigns/{campaignId}:set-stock", params: { campaignId }, body }, options);
  }

  /** Takes a gift out of your catalog. */
  unlistProduct(productId: string, options?: PostOptions): Promise<UnlistedProduct> {
    return data(this.#http, { method: "POST", path: "/sandbox/catalog/products/{productId}:unlist", params: { productId }, body: {} }, options);
  }

  /** Puts a gift back into your catalog. */
  relistProduct(productId: string, body: RelistSandboxProductRequest = {}, options?: PostOptions): Promise<Product> {
    return data(this.#http, { method: "POST", path: "/sandbox/catalog/products/{productId}:relist", params: { productId }, body }, options);
  }

  /** Sets whether a gift can be sent to a country. */
  setProductAvailable(productId: string, body: SetSandboxProductAvailableRequest, options?: PostOptions): Promise<Product> {
    return data(this.#http, { method: "POST", path: "/sandbox/catalog/products/{productId}:set-available", params: { productId }, body }, options);
  }
}
