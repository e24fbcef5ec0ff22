//go:build browser

package giftsite_test

import (
	"testing"

	"github.com/chromedp/cdproto/autofill"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// address is one that a player has saved in the browser: what the browser calls its parts, and what the form calls them.
type address struct {
	saved, filled map[string]string
}

// The formats differ in what they ask for: no region, a region, a county without a region, a postal code of letters.
var savedAddresses = map[string]address{
	"SE": {
		map[string]string{
			"NAME_FULL": "Astrid Lindqvist", "ADDRESS_HOME_STREET_ADDRESS": "Storgatan 1", "ADDRESS_HOME_ZIP": "111 22",
			"ADDRESS_HOME_CITY": "Stockholm", "PHONE_HOME_WHOLE_NUMBER": "+46701234567", "EMAIL_ADDRESS": "astrid@example.com",
		},
		map[string]string{
			"name": "Astrid Lindqvist", "street": "Storgatan 1", "postalCode": "111 22", "city": "Stockholm", "phone": "+46701234567",
			"email": "astrid@example.com",
		},
	},
	"US": {
		map[string]string{
			"NAME_FULL": "Alex Morgan", "ADDRESS_HOME_STREET_ADDRESS": "1 Main Street\nApt 4B", "ADDRESS_HOME_ZIP": "62701",
			"ADDRESS_HOME_CITY": "Springfield", "ADDRESS_HOME_STATE": "Illinois", "PHONE_HOME_WHOLE_NUMBER": "+12175550123",
		},
		map[string]string{
			"name": "Alex Morgan", "street": "1 Main Street", "street2": "Apt 4B", "postalCode": "62701", "city": "Springfield",
			"region": "Illinois", "phone": "+12175550123",
		},
	},
	"GB": {
		map[string]string{
			"NAME_FULL": "Sam Hill", "ADDRESS_HOME_STREET_ADDRESS": "2 High Street", "ADDRESS_HOME_ZIP": "SW1A 1AA",
			"ADDRESS_HOME_CITY": "London", "PHONE_HOME_WHOLE_NUMBER": "+442079460123",
		},
		map[string]string{
			"name": "Sam Hill", "street": "2 High Street", "postalCode": "SW1A 1AA", "city": "London", "phone": "+442079460123",
		},
	},
}

// The browser fills in a saved address by the hints of the form.
func TestABrowserFillsInASavedAddress(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		for country, saved := range savedAddresses {
			page := f.openPage("en-US", "#1B4B8F")
			page.Gifts = []*linksv1.ClaimGift{page.GetGifts()[0]}
			page.Gifts[0].Countries = []string{country}
			f.reset(page)
			b.visit(t, f.base+"/c/"+token+"?gift=dark-truffles", 200)
			b.press(t, ".send")
			b.autofill(t, "#name", saved.saved)
			for input, want := range saved.filled {
				b.await(t, `document.querySelector("#`+input+`").matches(":autofill")`)
				require.Equal(t, want, b.value(t, `document.querySelector("#`+input+`").value`), country+" "+input)
			}
			b.inspect(t, "36-autofill-"+country)
			b.press(t, ".send")
			require.Contains(t, b.text(t, "main"), saved.filled["street"], "it can be sent as it is")
		}
		b.requireNoErrors(t)
	})
}

// autofill lets the browser fill in the form of the input.
func (b *browser) autofill(t *testing.T, input string, saved map[string]string) {
	t.Helper()
	var found autofill.Address
	for name, value := range saved {
		found.Fields = append(found.Fields, &autofill.AddressField{Name: name, Value: value})
	}
	nodes := get(t, b, chromedp.Nodes(chromedp.CSS(input)))
	_, err := chromedp.Call(b.ctx, autofill.Trigger, autofill.TriggerParams{FieldID: nodes[0].BackendNodeID, Address: &found})
	require.NoError(t, err)
}
