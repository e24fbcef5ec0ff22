// Package clients tests the clients that public generators make of the OpenAPI document: each is generated from the document as a
// gateway serves it, with the options of gateway/docs/guides/generators.md, compiled as strictly as its language allows, and
// used by a small program. The test has the build tag clients and runs with `make clients`, which installs what it needs.
//
// A program gets GIFTING_URL, GIFTING_KEY, GIFTING_BRAND_ID, and FUTURE_URL, a gateway that is newer than the document. It prints
// four lines, each after it has done what the line reports:
//
//	order <order> <status>                      an order for a gift of the catalog
//	feed <event> <order>                        its event, found page by page in the feed and decoded by its type
//	problem <code> <order>                      the refusal of the same order again
//	unknown <code> <field code> <type> <type>   of the newer gateway: a refusal with unknown codes, then the types of its two events
//
// The verifiers and receivers of gateway/docs/guides/webhooks.md run here too. They need no build tag: the languages that are not
// installed are left out, except by `make clients`, which installs all.
package clients
