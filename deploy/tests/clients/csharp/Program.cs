// What an integrator does with the client of openapi-generator for C#. deploy/tests/clients/doc.go says what it must print.
using System;
using System.Collections.Generic;
using System.Linq;
using Gifting.Api;
using Gifting.Client;
using Gifting.Model;
using Newtonsoft.Json;

sealed class Program
{
    readonly CatalogApi catalog;
    readonly OrdersApi orders;
    readonly EventsApi events;

    Program(string url)
    {
        var configuration = new Configuration { BasePath = url, AccessToken = Environment.GetEnvironmentVariable("GIFTING_KEY") };
        catalog = new CatalogApi(configuration);
        orders = new OrdersApi(configuration);
        events = new EventsApi(configuration);
    }

    /// <summary>A gift that can go to Sweden and has nothing to choose.</summary>
    Guid Gift()
    {
        var gifts = catalog.ListProducts("SE").Items.Select(entry => entry.ActualInstance).OfType<Product>();
        return gifts.First(gift => gift.Available && gift.Variations.Count == 0).Id;
    }

    Order Place(string externalOrderId, Guid productId)
    {
        var address = new OrderAddress(street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country: "SE");
        return orders.PlaceOrder(Guid.NewGuid().ToString(), new PlaceOrderRequest(
            externalOrderId: externalOrderId,
            brandId: Environment.GetEnvironmentVariable("GIFTING_BRAND_ID"),
            items: new List<OrderItemInput> { new OrderItemInput(productId: productId.ToString()) },
            varClient: new OrderClient(name: "Ada Player"),
            recipient: new OrderRecipient(name: "Ada Player", phone: "+46701234567", address: address)));
    }

    Problem Refusal(string externalOrderId, Guid productId)
    {
        try
        {
            throw new InvalidOperationException("placed " + Place(externalOrderId, productId).Id);
        }
        catch (ApiException refused)
        {
            return JsonConvert.DeserializeObject<Problem>((string)refused.ErrorContent);
        }
    }

    /// <summary>The event of an order, read page by page. The call waits for the next event.</summary>
    OrderCreatedEvent Created(string externalOrderId)
    {
        for (string after = null; ;)
        {
            var page = events.ListEvents(after: after, limit: 2, wait: 10);
            foreach (var created in page.Items.Select(item => item.ActualInstance).OfType<OrderCreatedEvent>())
            {
                if (created.Data.ExternalOrderId == externalOrderId)
                {
                    return created;
                }
            }
            after = page.NextCursor;
        }
    }

    /// <summary>The value of an enumeration as the API has it.</summary>
    static string Value(Enum value)
    {
        return JsonConvert.SerializeObject(value).Trim('"');
    }

    static void Main()
    {
        // Otherwise an event with a member that is newer than the document is an UnknownEvent.
        AbstractOpenAPISchema.SerializerSettings.MissingMemberHandling = MissingMemberHandling.Ignore;
        var client = new Program(Environment.GetEnvironmentVariable("GIFTING_URL"));
        var future = new Program(Environment.GetEnvironmentVariable("FUTURE_URL"));
        var productId = client.Gift();
        var externalOrderId = "csharp-" + Guid.NewGuid();
        var order = client.Place(externalOrderId, productId);
        Console.WriteLine("order " + order.Id + " " + Value(order.Status));

        var created = client.Created(externalOrderId);
        Console.WriteLine("feed " + created.Id + " " + created.Data.Id);

        var conflict = client.Refusal(externalOrderId, productId);
        Console.WriteLine("problem " + conflict.Code + " " + conflict.OrderId);

        var unknown = future.Refusal(externalOrderId, productId);
        var items = future.events.ListEvents().Items;
        var known = (OrderCreatedEvent)items[0].ActualInstance;
        var later = (UnknownEvent)items[1].ActualInstance;
        Console.WriteLine("unknown " + unknown.Code + " " + unknown.Errors[0].Code + " " + Value(known.Type) + " " + later.Type);
    }
}
