package rules_test

import (
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
		Client: rules.Client{Name: "Client"},
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
		"every member": {
			&correction{
				Urgent: new(true), CourierComment: new("Knock"), Recipient: &delivery{
					Name: new("Bo"), Phone: new("+47 22 12 34 56"), Email: new("bo@example.com"),
					Address: &address{Street: new("Nygatan 2"), City: new("Lund"), PostalCode: new("222 33")},
				},
			},
			func(d *rules.Details) {
				d.CourierComment, d.Recipient = "Knock", rules.Recipient{
					Name: "Bo", Phone: "+4722123456", Email: "bo@example.com",
					Street: "Nygatan 2", City: "Lund", PostalCode: "222 33", Country: "SE",
				}
			},
		},
		"one member": {&correction{Recipient: &delivery{Name: new("Bo")}}, func(d *rules.Details) { d.Recipient.Name = "Bo" }},
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

func TestACorrectionIsRefusedWithTheFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		correction *correction
		want       []string
	}{
		{&correction{}, []string{"expectedVersion required"}},
		{
			&correction{Recipient: &delivery{
				Name: new(""), Phone: new(" "), Address: &address{Street: new(""), City: new(""), Country: new("")},
			}},
			[]string{
				"recipient.name required", "recipient.phone required", "recipient.address.street required",
				"recipient.address.city required", "recipient.address.country required",
			},
		},
		{
			&correction{Recipient: &delivery{Phone: new("070"), Email: new("ann"), Address: &address{Country: new("se")}}},
			[]string{"recipient.phone invalid", "recipient.email invalid", "recipient.address.country invalid"},
		},
	} {
		current, _ := stored(isProcessing)
		if tc.correction.GetRecipient() != nil {
			tc.correction.ExpectedVersion = new(int64(3))
		}
		errs := &fields.Errors{}
		_, err := rules.CorrectDeliveryOf(current, tc.correction, corrected, errs)
		require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
		require.ElementsMatch(t, tc.want, found(errs))
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

func TestAnInvalidBodyHasNoVersion(t *testing.T) {
	t.Parallel()
	for status, want := range map[ordersv1.OrderStatus]problem.Code{
		isProcessing: problem.InvalidRequest, ordersv1.OrderStatus_ORDER_STATUS_SENT: problem.NotEditable,
	} {
		current, _ := stored(status)
		errs := &fields.Errors{}
		errs.Add("", problem.FieldInvalid, "must be JSON")
		_, err := rules.CorrectDeliveryOf(current, &correction{ExpectedVersion: new(int64(2))}, corrected, errs)
		require.True(t, problem.Is(err, want), "%v", err)
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
