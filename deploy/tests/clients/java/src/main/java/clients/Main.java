package clients;

import gifting.ApiClient;
import gifting.ApiException;
import gifting.api.CatalogApi;
import gifting.api.EventsApi;
import gifting.api.OrdersApi;
import gifting.model.EventPage;
import gifting.model.FeedEvent;
import gifting.model.Order;
import gifting.model.OrderAddress;
import gifting.model.OrderClient;
import gifting.model.OrderCreatedEvent;
import gifting.model.OrderItemInput;
import gifting.model.OrderRecipient;
import gifting.model.PlaceOrderRequest;
import gifting.model.Problem;
import gifting.model.Product;
import gifting.model.ProductEntry;
import gifting.model.UnknownEvent;
import java.util.List;
import java.util.UUID;

/** What an integrator does with the client of openapi-generator. deploy/tests/clients/doc.go says what it must print. */
public final class Main {
  private final CatalogApi catalog;
  private final OrdersApi orders;
  private final EventsApi events;

  private Main(String url) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("GIFTING_KEY")));
    catalog = new CatalogApi(client);
    orders = new OrdersApi(client);
    events = new EventsApi(client);
  }

  /** A gift that can go to Sweden and has nothing to choose. */
  private UUID gift() throws ApiException {
    for (ProductEntry entry : catalog.listProducts("SE", null, null, null, null, null).getItems()) {
      if (entry.getActualInstance() instanceof Product product && product.getAvailable() && product.getVariations().isEmpty()) {
        return product.getId();
      }
    }
    throw new IllegalStateException("there is no gift to order");
  }

  private Order place(String externalOrderId, UUID productId) throws ApiException {
    OrderAddress address = new OrderAddress().street("Storgatan 1").city("Stockholm").postalCode("111 22").country("SE");
    PlaceOrderRequest order = new PlaceOrderRequest()
        .externalOrderId(externalOrderId)
        .brandId(System.getenv("GIFTING_BRAND_ID"))
        .items(List.of(new OrderItemInput().productId(productId.toString())))
        .client(new OrderClient().name("Ada Player"))
        .recipient(new OrderRecipient().name("Ada Player").phone("+46701234567").address(address));
    return orders.placeOrder(UUID.randomUUID().toString(), order, null);
  }

  private Problem refusal(String externalOrderId, UUID productId) throws Exception {
    try {
      throw new IllegalStateException("placed " + place(externalOrderId, productId).getId());
    } catch (ApiException refused) {
      return ApiClient.createDefaultObjectMapper().readValue(refused.getResponseBody(), Problem.class);
    }
  }

  /** A page of the feed. The call waits for the next event. */
  private EventPage read(String after) throws ApiException {
    return events.listEvents(after, 2, null, 10, null);
  }

  private OrderCreatedEvent created(String externalOrderId) throws ApiException {
    for (String after = null;;) {
      EventPage page = read(after);
      for (FeedEvent event : page.getItems()) {
        if (event.getActualInstance() instanceof OrderCreatedEvent created
            && externalOrderId.equals(created.getData().getExternalOrderId())) {
          return created;
        }
      }
      after = page.getNextCursor();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Main client = new Main(System.getenv("GIFTING_URL"));
    Main future = new Main(System.getenv("FUTURE_URL"));
    UUID productId = client.gift();
    String externalOrderId = "openapi-generator-" + UUID.randomUUID();
    Order order = client.place(externalOrderId, productId);
    System.out.println("order " + order.getId() + " " + order.getStatus());

    OrderCreatedEvent event = client.created(externalOrderId);
    System.out.println("feed " + event.getId() + " " + event.getData().getId());

    Problem conflict = client.refusal(externalOrderId, productId);
    System.out.println("problem " + conflict.getCode() + " " + conflict.getOrderId());

    Problem unknown = future.refusal(externalOrderId, productId);
    List<FeedEvent> items = future.read(null).getItems();
    OrderCreatedEvent knownEvent = (OrderCreatedEvent) items.get(0).getActualInstance();
    UnknownEvent unknownEvent = (UnknownEvent) items.get(1).getActualInstance();
    System.out.println("unknown " + unknown.getCode() + " " + unknown.getErrors().get(0).getCode() + " " + knownEvent.getType() + " "
        + unknownEvent.getType());
  }
}
