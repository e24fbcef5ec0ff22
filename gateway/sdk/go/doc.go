// Package gifting calls the Partner Gifting API.
//
//	client, err := gifting.New("https://sandbox.example.com/api/public/v1", os.Getenv("GIFTING_KEY"))
//	order, err := client.Orders.Place(ctx, gifting.PlaceOrderRequest{…})
//
// Each operation of the API is a method of a group of [Client], with the same names as in the SDKs for TypeScript and Python. A
// method takes care of what the API asks of a client: the Idempotency-Key of a POST, which stays the same over all attempts,
// retries that wait as long as the server says, and limits on the time of one attempt and of all. A refusal is a [*Problem], to
// branch on by its Code.
//
// The package needs no other module. Records of the API are in models.gen.go, which is generated from the OpenAPI document; members
// that this version does not know are ignored, and values of enumerations that it does not know are kept as they are.
package gifting
