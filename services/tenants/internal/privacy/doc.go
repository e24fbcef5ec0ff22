// Package privacy erases and exports what the platform stores about a person.
//
// The orders service and the personal-links service store personal data. This package finds a person's records in both and asks
// each to erase them. A request is recorded with the ids of its records before anything is erased, so after a crash any instance
// can continue it: each step may be repeated, and the worker repeats what is not completed.
//
// Links are erased before orders. An open link is cancelled by that, so no claim can place another order afterwards, and an order
// that a claim has placed since is added to the request.
//
// What was told before is erased last: when all events of the records are stored, the feed and the webhook service erase them. After a
// restore they read Kafka again, which has them as they were: then the erasure is requested again. The stored answers of a record are
// erased with it. A request is completed when nothing is left but copies that cannot be changed, which its report names.
//
// An order in flight cannot be erased, because it could not be delivered. A request for such an order is refused as a whole. If the
// order became one after the request was recorded, the request stays pending until the order is completed or cancelled.
package privacy
