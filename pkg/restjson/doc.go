// Package restjson is the JSON of the REST API: a codec between protobuf messages and the bodies
// and query parameters that callers see.
//
// # Writing
//
// Marshal, Append, AppendList and AppendValue write compact, valid UTF-8 JSON whose bytes depend
// on the message alone: members stand in declaration order, map keys are sorted. So an event in
// the feed and the same event in a webhook are equal byte for byte.
//
//   - Every member is written, empty ones too. An unset optional field and an unset message are
//     null; the unset member of a oneof is left out.
//   - All integers are JSON numbers, 64-bit ones as well. A float that is NaN or infinite is an error.
//   - An enum is the name of its value without the enum's own prefix; number 0 and unknown numbers
//     are null.
//   - google.protobuf.Timestamp is RFC 3339 in UTC with Z, cut to microseconds, without trailing
//     zeros. Bytes are base64 with padding.
//   - The field option raw_json writes bytes as they stand; they must be one JSON value made by
//     this package, of which only the UTF-8 is checked. Empty bytes are null.
//   - The message option inline writes a message as the value of its only field, or of the member
//     of its only oneof.
//   - A nil message is null, also inside a list.
//
// # Reading
//
// Unmarshal and UnmarshalQuery report every fault at once, as violations with the path of the
// field. What has no fault is set even when something else has one; a faulty list element leaves
// an empty one in its place, so that indexes in later checks still fit. A body that is not JSON at
// all has exactly one violation, without a path, and the message is then not to be trusted.
//
//   - Unknown members are ignored, null means omitted, member names are exact. Duplicate names,
//     invalid UTF-8, more than 100 levels and anything after the body make the whole body invalid.
//   - Integers may be written in any form that is mathematically integral (1, 1.0, 1e2).
//   - The field option decimal accepts a string or a number and keeps its text, up to 64
//     characters. Whether a string is a number is for the service to say.
//   - A string that holds U+0000 is invalid: PostgreSQL cannot store it.
//   - Fields with the option raw_json are never read; they count as unknown.
//
// A violation never repeats a value of the caller. Paths name map keys, cut to 64 characters.
//
// # Limits
//
// Other well-known types than Timestamp, groups, and maps whose keys are not strings are not
// supported: every call on a message that contains one fails, whether or not it is set.
//
// # How it works
//
// Descriptors are read once per message type, into a plan that is cached for good. Generated
// messages of the open struct API are read and written as Go structs; every other message
// (dynamicpb, messages with a oneof, other APIs) through protobuf reflection, with equal results.
package restjson
