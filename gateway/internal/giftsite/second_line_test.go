package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestASecondLineIsSentWithTheStreetAndANoteToTheCourier(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	review := f.follow(filled("street2", " c/o Berg, lgh 1102 ", "courierComment", "Portkod 1234\r\nRing på"))
	for _, shown := range []string{"Storgatan 1", "c/o Berg, lgh 1102", "Portkod 1234\nRing på"} {
		require.Contains(t, review.body, "<bdi>"+shown+"</bdi>")
	}
	form := f.get("?step=address").body
	require.Regexp(t, `(?s)id="street".*id="street2" name="street2" type="text" value="c/o Berg, lgh 1102" `+
		`autocomplete="address-line2".*id="postalCode"`, form)
	require.Contains(t, form, "autocomplete=\"off\" aria-describedby=\"courierComment-hint\">\nPortkod 1234\nRing på</textarea>")
	f.follow(f.confirm())
	sent := f.claims[0].GetRecipient()
	require.Equal(t, "Storgatan 1, c/o Berg, lgh 1102", sent.GetStreet())
	require.Nil(t, sent.Street2)
	require.Equal(t, "Portkod 1234\nRing på", sent.GetCourierComment())

	t.Run("and the note can be corrected", func(t *testing.T) {
		require.NotContains(t, f.get("?step=correct").body, `id="street2"`, "the order has it in the street")
		f.follow(correction("courierComment", "Portkod 4321"))
		require.Len(t, f.corrections, 1)
		require.True(t,
			proto.Equal(&linksv1.ClaimRecipient{CourierComment: proto.String("Portkod 4321")}, f.corrections[0].GetRecipient()))
	})
}

// american chooses a gift for the United States, and returns how to send an address there with other values.
func (f *fixture) american() func(changes ...string) (page string) {
	f.page.Gifts[0].Countries = []string{"US"}
	f.follow(choose("truffles"))
	return func(changes ...string) string {
		return f.follow(filled(
			append([]string{"country", "US", "city", "Austin", "region", "TX", "postalCode", "78701"}, changes...)...,
		)).body
	}
}

// Both parts are one text of the order, which has a limit. The error is where there is too much.
func TestTheErrorOfALongAddressIsAtItsLongPart(t *testing.T) {
	t.Parallel()
	f := setup(t)
	american := f.american()
	long := func(n int) string { return strings.Repeat("å", n) }
	require.Contains(t, american("street", long(153), "street2", long(100)), "Is everything right?")
	require.Contains(t, american("street", long(154), "street2", long(100)),
		`<a href="#street">Street and number – At most 153 characters</a>`)
	require.Contains(t, american("street2", long(101)),
		`<a href="#street2">Apartment, floor, company or c/o – At most 100 characters</a>`)
	require.Contains(t, american("city", long(96)), "Is everything right?")
	require.Contains(t, american("city", long(97)), `<a href="#city">City – At most 96 characters</a>`)
	require.Contains(t, american("region", long(41)), `<a href="#region">State – At most 40 characters</a>`)
}

// Otherwise a claim would refuse the whole street or city, whose own input has no error.
func TestTheErrorOfACharacterIsAtItsPart(t *testing.T) {
	t.Parallel()
	f := setup(t)
	american := f.american()
	for _, text := range []string{"apt\t4", "apt \u202a4"} {
		require.Contains(t, american("street2", text), `<a href="#street2">Apartment, floor, company or c/o – This is not valid`)
		require.Contains(t, american("region", text), `<a href="#region">State – This is not valid`)
	}
	require.Contains(t, american("region", "\u200b"), `<a href="#region">State – Fill in this field</a>`, "nothing is seen")
	require.Contains(t, american("street2", "\u202a"), "Is everything right?", "nothing is seen")
	f.follow(f.confirm())
	require.Equal(t, "Storgatan 1", f.claims[0].GetRecipient().GetStreet())
}

func TestAPostalCodeIsSentAsItsCountryWritesIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Gifts[0].Countries = []string{"GB", "SE"}
	f.follow(choose("truffles"))
	require.Contains(t, f.follow(filled("country", "GB", "postalCode", "sw1a2aa", "phone", "+447700900123")).body,
		"<bdi>SW1A 2AA</bdi>")
	require.Contains(t, f.follow(filled("postalCode", "１１１　２２")).body, "<bdi>111 22 Visby</bdi>")
}
