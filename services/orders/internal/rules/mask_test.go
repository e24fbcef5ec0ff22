package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

func TestAMaskedRecipientShowsOnlyTheBeginnings(t *testing.T) {
	t.Parallel()
	got := rules.Recipient{
		Name: "Åsa  von Öhman X", Phone: "+46701234567", Email: "asa@example.com", Street: "Östra Storgatan 1", City: "Visby",
		PostalCode: "621 57", Country: "SE",
	}.Masked()
	require.True(t, proto.Equal(&ordersv1.OrderRecipient{
		Name: "Å••• v••• Ö••• •••", Phone: "•••67", Email: proto.String("a•••"),
		Address: &ordersv1.OrderAddress{Street: "Ös•••", City: "Visby", PostalCode: proto.String("62•••"), Country: "SE"},
	}, got), "%v", got)
	got = rules.Recipient{Phone: "1", Street: "A"}.Masked()
	want := &ordersv1.OrderRecipient{Phone: "•••1", Address: &ordersv1.OrderAddress{Street: "•••"}}
	require.True(t, proto.Equal(want, got), "%v", got)
}

func TestAPhoneNumberIsKnownByItsLastFourDigits(t *testing.T) {
	t.Parallel()
	r := rules.Recipient{Phone: "+46701234567"}
	require.True(t, r.PhoneEndsWith("4567"))
	for _, digits := range []string{"", "7", "567", "34567", "4568", "+46701234567"} {
		require.False(t, r.PhoneEndsWith(digits), digits)
	}
}
