package rules_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

type (
	correction = ordersv1.UpdateDeliveryRequest
	delivery   = ordersv1.DeliveryCorrection
	address    = ordersv1.AddressCorrection
)

var (
	placedAt  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	corrected = placedAt.Add(time.Hour)
)

// stored is an order at version 3 with a recipient in Sweden.
func stored(status ordersv1.OrderStatus) (*rules.Current, *rules.Details) {
	details := &rules.Details{
		Client: rules.Person{Name: "Client"},
		Recipient: rules.Recipient{
			Name: "Ann", Phone: "+46701234567", Email: "ann@example.com",
			Street: "Storgatan 1", City: "Stockholm", PostalCode: "111 22", Country: "SE",
		},
		CourierComment: "Ring twice",
	}
	return &rules.Current{
		TenantID: "t",
		Record: &ordersv1.Order{
			Id: "o", Version: 3, Status: status, DeliveryCountry: "SE", CreatedAt: timestamppb.New(placedAt),
			UpdatedAt: timestamppb.New(placedAt),
		},
		Details: func() (rules.Details, error) { return *details, nil },
	}, details
}

const isProcessing = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING

func correct(current *rules.Current, req *correction) (*rules.Change, error) {
	return rules.CorrectDeliveryOf(current, req, corrected, &fields.Errors{})
}

func TestAMemberThatIsSentReplacesTheStoredOne(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		correction *correction
		want       func(d *rules.Details)
	}{
		"name": {&correction{Recipient: &delivery{Name: new("Bo")}}, func(d *rules.Details) { d.Recipient.Name = "Bo" }},
		"phone": {
			&correction{Recipient: &delivery{Phone: new("+47 22 12 34 56")}}, func(d *rules.Details) { d.Recipient.Phone = "+4722123456" },
		},
		"email": {
			&correction{Recipient: &delivery{Email: new("bo@example.com")}}, func(d *rules.Details) { d.Recipient.Email = "bo@example.com" },
		},
		"street": {
			&correction{Recipient: &delivery{Address: &address{Street: new("Nygatan 2")}}},
			func(d *rules.Details) { d.Recipient.Street = "Nygatan 2" },
		},
		"city": {
			&correction{Recipient: &delivery{Address: &address{City: new("Lund")}}}, func(d *rules.Details) { d.Recipient.City = "Lund" },
		},
		"postal code": {
			&correction{Recipient: &delivery{Address: &address{PostalCode: new("222 33")}}},
			func(d *rules.Details) { d.Recipient.PostalCode = "222 33" },
		},
		"comment":    {&correction{CourierComment: new("Knock")}, func(d *rules.Details) { d.CourierComment = "Knock" }},
		"no comment": {&correction{CourierComment: new(" ")}, func(d *rules.Details) { d.CourierComment = "" }},
		"urgency":    {&correction{Urgent: new(true)}, func(*rules.Details) {}},
	} {
		t.Run(name, func(t *testing.T) {
			current, want := stored(isProcessing)
			tc.correction.ExpectedVersion = new(int64(3))
			change, err := correct(current, tc.correction)
			require.NoError(t, err)
			tc.want(want)
			require.Equal(t, want, change.Details)
			require.EqualValues(t, 4, change.Record.GetVersion())
			require.Equal(t, corrected, change.Record.GetUpdatedAt().AsTime())
			require.Equal(t, tc.correction.GetUrgent(), change.Record.GetUrgent())
			require.Equal(t, rules.Event{Type: "order.updated", OccurredAt: corrected, Data: change.Record}, change.Event)
			require.EqualValues(t, 3, current.Record.GetVersion(), "the stored record is not changed")
		})
	}
}

func TestACorrectionThatChangesNothing(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*correction{
		"is empty":                     {},
		"has an empty recipient":       {Recipient: &delivery{Address: &address{}}},
		"keeps e-mail and postal code": {Recipient: &delivery{Email: new(""), Address: &address{PostalCode: new(" ")}}},
		"repeats the stored values": {
			Recipient: &delivery{Name: new("Ann")}, CourierComment: new("Ring twice"), Urgent: new(false),
		},
		"writes the phone in another way": {Recipient: &delivery{Phone: new("+46 (70) 123-45.67")}},
		"repeats the country":             {Recipient: &delivery{Address: &address{Country: new("SE")}}},
	} {
		t.Run(name, func(t *testing.T) {
			current, _ := stored(isProcessing)
			req.ExpectedVersion = new(int64(3))
			change, err := correct(current, req)
			require.NoError(t, err)
			require.Nil(t, change)

			req.ExpectedVersion = new(int64(2))
			_, err = correct(current, req)
			require.True(t, problem.Is(err, problem.VersionConflict), "refused when stale")
			require.True(t, rules.IsCorrected(current, req), "also when stale")
			require.EqualValues(t, 2, req.GetExpectedVersion(), "the request is not changed")
		})
	}
}

func TestAnOrderIsNotCorrectedIfItWouldChangeOrCannot(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*correction{
		"another member": {ExpectedVersion: new(int64(2)), Recipient: &delivery{Name: new("Ann"), Phone: new("+4722123456")}},
		"an error":       {ExpectedVersion: new(int64(2)), Recipient: &delivery{Name: new("")}},
		"no version":     {},
	} {
		current, _ := stored(isProcessing)
		require.False(t, rules.IsCorrected(current, req), name)
	}
	sent, _ := stored(ordersv1.OrderStatus_ORDER_STATUS_SENT)
	require.False(t, rules.IsCorrected(sent, &correction{ExpectedVersion: new(int64(3))}))
}

func TestACorrectionIsRefusedWithTheField(t *testing.T) {
	t.Parallel()
	long := func(n int) *string { return new(strings.Repeat("é", n)) }
	for name, tc := range map[string]struct {
		correction  *correction
		field, code string
	}{
		"no version":  {&correction{}, "expectedVersion", problem.FieldRequired},
		"empty name":  {&correction{Recipient: &delivery{Name: new("")}}, "recipient.name", problem.FieldRequired},
		"empty phone": {&correction{Recipient: &delivery{Phone: new(" ")}}, "recipient.phone", problem.FieldRequired},
		"empty street": {
			&correction{Recipient: &delivery{Address: &address{Street: new("")}}}, "recipient.address.street", problem.FieldRequired,
		},
		"empty city": {
			&correction{Recipient: &delivery{Address: &address{City: new("")}}}, "recipient.address.city", problem.FieldRequired,
		},
		"empty country": {
			&correction{Recipient: &delivery{Address: &address{Country: new("")}}}, "recipient.address.country", problem.FieldRequired,
		},
		"no such country": {
			&correction{Recipient: &delivery{Address: &address{Country: new("se")}}}, "recipient.address.country", problem.FieldInvalid,
		},
		"not a phone":   {&correction{Recipient: &delivery{Phone: new("070")}}, "recipient.phone", problem.FieldInvalid},
		"not an e-mail": {&correction{Recipient: &delivery{Email: new("ann")}}, "recipient.email", problem.FieldInvalid},
		"long name":     {&correction{Recipient: &delivery{Name: long(101)}}, "recipient.name", problem.FieldTooLong},
		"long street": {
			&correction{Recipient: &delivery{Address: &address{Street: long(256)}}}, "recipient.address.street", problem.FieldTooLong,
		},
		"long city": {
			&correction{Recipient: &delivery{Address: &address{City: long(101)}}}, "recipient.address.city", problem.FieldTooLong,
		},
		"long postal code": {
			&correction{Recipient: &delivery{Address: &address{PostalCode: long(21)}}}, "recipient.address.postalCode", problem.FieldTooLong,
		},
		"long comment": {&correction{CourierComment: long(501)}, "courierComment", problem.FieldTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			current, _ := stored(isProcessing)
			if name != "no version" {
				tc.correction.ExpectedVersion = new(int64(3))
			}
			_, err := correct(current, tc.correction)
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, problem.InvalidRequest, p.Code)
			require.Len(t, p.Violations, 1)
			require.Equal(t, tc.field, p.Violations[0].Field)
			require.Equal(t, tc.code, p.Violations[0].Code)
		})
	}
}

func TestAStoredMemberThatIsInvalidMustBeSent(t *testing.T) {
	t.Parallel()
	for field, tc := range map[string]struct {
		spoil func(r *rules.Recipient)
		fix   *delivery
	}{
		"recipient.phone": {func(r *rules.Recipient) { r.Phone = "070" }, &delivery{Phone: new("+46701234567")}},
		"recipient.name":  {func(r *rules.Recipient) { r.Name = "" }, &delivery{Name: new("Ann")}},
		"recipient.address.postalCode": {
			func(r *rules.Recipient) { r.PostalCode = "" }, &delivery{Address: &address{PostalCode: new("111 22")}},
		},
	} {
		t.Run(field, func(t *testing.T) {
			current, details := stored(isProcessing)
			tc.spoil(&details.Recipient)
			_, err := correct(current, &correction{ExpectedVersion: new(int64(3)), Urgent: new(true)})
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Len(t, p.Violations, 1)
			require.Equal(t, field, p.Violations[0].Field)

			change, err := correct(current, &correction{ExpectedVersion: new(int64(3)), Recipient: tc.fix})
			require.NoError(t, err)
			require.NotNil(t, change)
		})
	}
}

func TestTheOrderOfACorrectionsErrors(t *testing.T) {
	t.Parallel()
	everything := &correction{ExpectedVersion: new(int64(1)), Recipient: &delivery{
		Name: new(""), Address: &address{Country: new("NO")},
	}}
	current, _ := stored(ordersv1.OrderStatus_ORDER_STATUS_SENT)
	_, err := correct(current, everything)
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.NotEditable, p.Code)
	require.Equal(t, "SENT", p.CurrentStatus)

	current, _ = stored(isProcessing)
	_, err = correct(current, everything)
	require.True(t, problem.Is(err, problem.VersionConflict))

	everything.ExpectedVersion = new(int64(3))
	_, err = correct(current, everything)
	require.True(t, problem.Is(err, problem.InvalidRequest))

	everything.Recipient.Name = new("Bo")
	_, err = correct(current, everything)
	require.True(t, problem.Is(err, problem.CountryChangeNotAllowed))
}

// A correction either fails, changes nothing, or results in members that were sent or stored. Repeated, it changes nothing.
func TestRandomCorrections(t *testing.T) {
	t.Parallel()
	const corrections = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...string) *string {
		i := random.IntN(len(values) + 1)
		if i == len(values) {
			return nil
		}
		return &values[i]
	}
	applied := 0
	for range corrections {
		current, before := stored(rules.Statuses()[1+random.IntN(2)])
		if random.IntN(4) == 0 {
			before.Recipient.PostalCode = ""
		}
		req := &correction{
			ExpectedVersion: new(int64(2 + random.IntN(2))),
			CourierComment:  pick("", "Ring twice", "Knock"),
			Recipient: &delivery{
				Name: pick("", "Ann", "Bo"), Phone: pick("", "070", "+46 70 123 45 67", "+4722123456"), Email: pick("", "x", "bo@example.com"),
				Address: &address{
					Street: pick("", "Nygatan 2"), City: pick("", "Lund"), PostalCode: pick("", "222 33"), Country: pick("SE", "NO", "", "XX"),
				},
			},
		}
		stale, locked := req.GetExpectedVersion() != 3, current.Record.GetStatus() != isProcessing
		change, err := correct(current, req)
		switch {
		case locked:
			require.True(t, problem.Is(err, problem.NotEditable))
		case stale:
			require.True(t, problem.Is(err, problem.VersionConflict))
		}
		if err != nil {
			require.Nil(t, change)
			continue
		}
		if change == nil {
			continue
		}
		applied++
		got := *change.Details
		require.Contains(t, []string{before.Recipient.Name, req.GetRecipient().GetName()}, got.Recipient.Name)
		require.Contains(t, []string{"+46701234567", "+4722123456"}, got.Recipient.Phone)
		require.NotEmpty(t, got.Recipient.PostalCode)
		require.Equal(t, got.Recipient.Email == "ann@example.com", fields.Blank(req.GetRecipient().GetEmail()))
		require.Equal(t, before.Recipient.Country, got.Recipient.Country)
		require.Equal(t, before.Client, got.Client)
		require.NotEqual(t, *before, got)

		next := &rules.Current{Record: change.Record, Details: func() (rules.Details, error) { return got, nil }}
		req.ExpectedVersion = new(int64(4))
		again, err := correct(next, req)
		require.NoError(t, err)
		require.Nil(t, again)
	}
	require.Greater(t, applied, corrections/100)
}
