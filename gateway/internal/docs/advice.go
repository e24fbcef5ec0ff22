package docs

import (
	"maps"

	"github.com/partnergifting/platform/pkg/problem"
)

// adviceByCode has a text for each code of the registry.
func adviceByCode() map[problem.Code]advice {
	all := map[problem.Code]advice{}
	for _, part := range []map[problem.Code]advice{requestAdvice, idempotencyAdvice, stateAdvice, referenceAdvice, serviceAdvice} {
		maps.Copy(all, part)
	}
	return all
}

// requestAdvice is on faults of the request as such.
var requestAdvice = map[problem.Code]advice{
	problem.InvalidRequest: {
		"The request is malformed: a required field is missing or blank, the body is not valid JSON, a value has the wrong type or " +
			"form, `limit` is outside 1 to 100, a cursor does not belong to the list and its filters, or a timestamp in the query has " +
			"an unencoded `+`. `errors[]` lists every fault with its field; an empty `field` means the whole body.\n\n" +
			"On the event feed a fault on `after` may also say that the events behind the cursor are no longer kept.",
		"Correct the listed fields and send the request again, under the same `Idempotency-Key` if you like. After lost events, load " +
			"all records anew and follow the feed from its start.",
	},
	problem.InvalidAPIKey: {
		"The key is missing, malformed, unknown or revoked, belongs to the other environment, or API access is switched off for the " +
			"tenant. The answer does not tell which.",
		"Do not retry. Check that you send `Authorization: Bearer` with the whole key, to the host of the key's environment. Ask an " +
			"Administrator of your workspace whether the key is still good.",
	},
	problem.InsufficientScope: {
		"The key lacks the scope the operation needs: `CATALOG`, `ORDERS` or `PERSONAL_LINKS`. `detail` names it.",
		"Use a key with the scope. `key.scopes` of `GET /me` lists those of a key.",
	},
	problem.NotFound: {
		"No record with this id is visible to the key: it does not exist, belongs to another tenant or to a brand the key does not " +
			"reach, or the id is no UUID. An unknown path answers the same.",
		"Check the path, the id and the brands of the key (`key.brandIds` of `GET /me`).",
	},
	problem.MethodNotAllowed: {
		"The path exists, but not with this method.",
		"Use one of the methods the `Allow` header names.",
	},
	problem.NotAcceptable: {
		"The `Accept` header excludes `application/json`.",
		"Accept `application/json`, or leave the header out. Errors are `application/problem+json` whatever it says.",
	},
	problem.PayloadTooLarge: {
		"The body is larger than 10 MB. Nothing was done.",
		"Send less, in several requests if need be.",
	},
	problem.UnsupportedMediaType: {
		"The body is not `application/json`, or it is compressed.",
		"Send JSON with `Content-Type: application/json` and without `Content-Encoding`.",
	},
}

var idempotencyAdvice = map[problem.Code]advice{
	problem.IdempotencyKeyRequired: {
		"A POST came without `Idempotency-Key`, or with a blank one.",
		"Send a key that is new for each operation, such as a random UUID, and the same one with each repetition.",
	},
	problem.IdempotencyKeyInvalid: {
		"`Idempotency-Key` is longer than 255 characters, stands more than once, or is not a well-formed quoted string.",
		"Send it once, with at most 255 characters.",
	},
	problem.IdempotencyInProgress: {
		"A request with this `Idempotency-Key` is still running.",
		"Repeat the request with the same key and body after `Retry-After` seconds; you then get the first one's answer.",
	},
	problem.IdempotencyKeyReused: {
		"The `Idempotency-Key` was used before with a different method, path, query or body. Keys are stored for 30 days.",
		"Use a new key for a new operation. To repeat an earlier one, send exactly what you sent then.",
	},
}

// serviceAdvice is on what is no fault of the request.
var serviceAdvice = map[problem.Code]advice{
	problem.RateLimited: {
		"The key has had its 300 requests of the last 60 seconds; or, without a valid key, the client address its 600 image reads or " +
			"60 refused keys of the last minute.",
		"Wait as many seconds as `Retry-After` says. Spread requests over time; `RateLimit` tells what is left.",
	},
	problem.InternalError: {
		"Something went wrong in the service.",
		"Retry after a pause, a POST with the same `Idempotency-Key` and body. If it stays, report `instance`.",
	},
	problem.RangeNotSatisfiable: {
		"`Range` begins behind the end of the image. `Content-Range` tells how many bytes it has.",
		"Ask for a part the image has, or leave `Range` out.",
	},
	problem.ServiceUnavailable: {
		"Something the service needs is down at the moment.",
		"Retry after `Retry-After` seconds, a POST with the same `Idempotency-Key` and body.",
	},
}
