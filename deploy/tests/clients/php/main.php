<?php
// What an integrator does with the client of openapi-generator for PHP. deploy/tests/clients/doc.go says what it must print.
declare(strict_types=1);

use Gifting\Api\CatalogApi;
use Gifting\Api\EventsApi;
use Gifting\Api\OrdersApi;
use Gifting\ApiException;
use Gifting\Configuration;
use Gifting\Model\Order;
use Gifting\Model\Problem;
use Gifting\ObjectSerializer;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'Gifting\\')) {
        require __DIR__ . '/client/lib/' . strtr(substr($class, strlen('Gifting\\')), '\\', '/') . '.php';
    }
});

function configuration(string $url): Configuration
{
    return (new Configuration())->setHost($url)->setAccessToken((string) getenv('GIFTING_KEY'));
}

/** A gift that can go to Sweden and has nothing to choose. */
function gift(CatalogApi $catalog): string
{
    foreach ($catalog->listProducts('SE')->getItems() as $entry) {
        if ($entry->getAvailable() && $entry->getVariations() === []) {
            return $entry->getId();
        }
    }
    throw new RuntimeException('there is no gift to order');
}

function place(OrdersApi $orders, string $externalOrderId, string $productId): Order
{
    return $orders->placeOrder(bin2hex(random_bytes(16)), new \Gifting\Model\PlaceOrderRequest([
        'external_order_id' => $externalOrderId,
        'brand_id' => getenv('GIFTING_BRAND_ID'),
        'items' => [new \Gifting\Model\OrderItemInput(['product_id' => $productId])],
        'client' => new \Gifting\Model\OrderClient(['name' => 'Ada Player']),
        'recipient' => new \Gifting\Model\OrderRecipient([
            'name' => 'Ada Player',
            'phone' => '+46701234567',
            'address' => new \Gifting\Model\OrderAddress([
                'street' => 'Storgatan 1', 'city' => 'Stockholm', 'postal_code' => '111 22', 'country' => 'SE',
            ]),
        ]),
    ]));
}

function refusal(OrdersApi $orders, string $externalOrderId, string $productId): Problem
{
    try {
        throw new RuntimeException('placed ' . place($orders, $externalOrderId, $productId)->getId());
    } catch (ApiException $refused) {
        return $refused->getResponseObject();
    }
}

/** The event of an order, read page by page, and the order in it. The call waits for the next event. */
function created(EventsApi $events, string $externalOrderId): array
{
    for ($after = null;;) {
        $page = $events->listEvents(after: $after, limit: 2, wait: 10);
        foreach ($page->getItems() as $event) {
            if ($event->getType() !== 'order.created') {
                continue;
            }
            $order = ObjectSerializer::deserialize((object) $event->getData(), Order::class);
            if ($order->getExternalOrderId() === $externalOrderId) {
                return [$event, $order];
            }
        }
        $after = $page->getNextCursor();
    }
}

$own = configuration((string) getenv('GIFTING_URL'));
$future = configuration((string) getenv('FUTURE_URL'));
$orders = new OrdersApi(config: $own);
$productId = gift(new CatalogApi(config: $own));
$externalOrderId = 'php-' . bin2hex(random_bytes(8));
$order = place($orders, $externalOrderId, $productId);
echo "order {$order->getId()} {$order->getStatus()}\n";

[$event, $same] = created(new EventsApi(config: $own), $externalOrderId);
echo "feed {$event->getId()} {$same->getId()}\n";

$conflict = refusal($orders, $externalOrderId, $productId);
echo "problem {$conflict->getCode()} {$conflict->getOrderId()}\n";

$unknown = refusal(new OrdersApi(config: $future), $externalOrderId, $productId);
[$known, $later] = (new EventsApi(config: $future))->listEvents()->getItems();
echo "unknown {$unknown->getCode()} {$unknown->getErrors()[0]->getCode()} {$known->getType()} {$later->getType()}\n";
