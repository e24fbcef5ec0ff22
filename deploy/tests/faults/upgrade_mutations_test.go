package faults_test

const (
	contractLevel = "pkg/rpc/level.go"
	metadata      = "pkg/caller/metadata.go"
	unknownFields = "pkg/caller/unknown.go"
	cursors       = "pkg/page/cursor.go"
	orderDetails  = "services/orders/internal/rules/details.go"
)

// nextRelease makes this version the release after it: If-Match has a field more, of which the gateway needs that the orders
// service knows it, and each change of an order has a second event, of a new type.
var nextRelease = []replacement{
	{contractLevel, "const ContractLevel = 2", "const ContractLevel = 3"},
	{
		contractLevel, "identity.Gateway:       {identity.PersonalLinks: 2, identity.Orders: 2},",
		"identity.Gateway: {identity.PersonalLinks: 2, identity.Orders: 3},",
	},
	{
		metadata, "p.IfMatch = &commonv1.IfMatch{Any: c.Any, Tags: tags}",
		"p.IfMatch = &commonv1.IfMatch{Any: c.Any, Tags: tags}\n" +
			"p.IfMatch.ProtoReflect().SetUnknown([]byte{0xa0, 0x06, 1}) // Field 100 is 1.",
	},
	{
		metadata, "if err := CheckKnown(&r); err != nil {",
		"if known := r.GetIfMatch(); known != nil {\nknown.ProtoReflect().SetUnknown(nil)\n}\nif err := CheckKnown(&r); err != nil {",
	},
	{changeOrder, "outbox.Append(ctx, b, event)", `outbox.Append(ctx, b, event)
			second, err := s.newEvent(before.TenantID, before.Record, originKeyID, change.Event)
			if err == nil {
				second.Type = "` + newEventType + `"
				outbox.Append(ctx, b, second)
			}`},
}

const newEventType = "order.noted"

// upgradeMutation is a bug of one of two releases that makes it unsafe to run them together, or to go back.
type upgradeMutation struct {
	name         string
	older, newer []replacement
}

var upgradeMutations = []upgradeMutation{
	{name: "a stored field is renamed", newer: []replacement{
		{orderDetails, "`json:\"postalCode,omitempty\"`", "`json:\"postcode,omitempty\"`"},
	}},
	{name: "a new form is written by default", newer: []replacement{
		{cursors, "raw = append(raw, cursorVersion)", "raw = append(raw, cursorVersion+1)"},
		{cursors, "raw[0] != cursorVersion {", "raw[0] > cursorVersion+1 {"},
	}},
	{name: "a condition is ignored", newer: nextRelease, older: []replacement{
		{unknownFields, "if raw := m.GetUnknown(); len(raw) > 0 {", "if raw := m.GetUnknown(); len(raw) > 1000 {"},
	}},
}
