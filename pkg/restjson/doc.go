// Package restjson is the JSON codec of the REST API: it converts between protobuf messages, bodies and query parameters.
//
// # Writing
//
// Marshal and Marshaler write compact, valid UTF-8 JSON whose bytes depend on the message alone:
// members are in declaration order, map keys are sorted. So an event in the feed and the same event
// in a webhook are equal byte for byte.
//
//   - Every member is written, empty ones too. An unset optional field and an unset message are
//     null. The unset members of a oneof are left out.
//   - All integers are JSON numbers, 64-bit ones as well.
//   - An enum is the name of its value (package enumname). Number 0 and unknown numbers are null.
//   - google.protobuf.Timestamp is RFC 3339 in UTC with Z, cut to microseconds, without trailing
//     zeros.
//   - The field option raw_json writes bytes as they are. They must be one JSON value made by this
//     package; only their UTF-8 is checked. Empty bytes are null.
//   - The message option inline writes a message as the value of its only field, or of the member
//     of its only oneof.
//   - A nil message is null, also inside a list.
//
// # Reading
//
// Unmarshal and UnmarshalQuery report everything that is invalid as violations with the path of the field. Valid fields are set
// even when others are invalid. An invalid element of a list becomes an empty one, so that the indexes in later checks are
// right. A body that is not JSON has exactly one violation, without a path, and the message must then not be used.
//
//   - Unknown members are ignored, null means omitted, member names are exact. Duplicate names,
//     invalid UTF-8, more than 100 levels and anything after the body make the whole body invalid.
//   - Integers may be written in any form that is mathematically integral (1, 1.0, 1e2).
//   - The field option decimal accepts a string or a number and keeps its text, up to 64
//     characters. The service decides whether a string is a number.
//   - A string with U+0000 is invalid: PostgreSQL cannot store it.
//   - Fields with the option raw_json are never read. They count as unknown.
//
// A violation never repeats a value of the caller. Paths name map keys, cut to 64 characters.
//
// # Limits
//
// Well-known types other than Timestamp, unsigned and floating-point numbers, bytes that are not raw JSON, groups, and maps whose
// keys are not strings are not supported: every call on a message that contains one fails, whether or not it is set.
package restjson
