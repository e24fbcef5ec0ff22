//go:build browser

package giftsite_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two tabs of a browser have the same cookie, so they enter into the same form.
func TestTwoTabsPlaceOneOrderAndBothShowIt(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, one *browser, locale string) {
		two := one.another(t)
		start := func(t *testing.T) {
			t.Helper()
			f.show(f.openPage(locale, "#1B4B8F"))
			one.toFront(t)
			one.review(t, f)
		}
		requireOneOrder := func(t *testing.T) {
			t.Helper()
			for _, tab := range []*browser{two, one} { // One of them is behind the other.
				tab.await(t, `document.querySelector(".reference") !== null`)
				require.Contains(t, tab.value(t, `document.querySelector(".reference").textContent`), "NP-4F7K2M")
			}
			f.change(func() { require.Equal(t, 1, f.claims) })
		}
		t.Run("a gift that another tab has chosen is reviewed before it is ordered", func(t *testing.T) {
			start(t)
			two.toFront(t)
			two.visit(t, f.base+"/c/"+token+"?gift=scented-candle", 200)
			two.press(t, ".send")
			require.Contains(t, two.text(t, ".summary"), "Scented candle")
			one.toFront(t)
			one.press(t, ".confirm .send")
			require.NotEmpty(t, one.text(t, ".problems"))
			require.Contains(t, one.text(t, ".summary"), "Scented candle")
			f.change(func() { require.Zero(t, f.claims) })
			one.press(t, ".confirm .send")
			two.toFront(t)
			two.press(t, ".confirm .send")
			requireOneOrder(t)
		})
		t.Run("both send the same review at once", func(t *testing.T) {
			start(t)
			two.toFront(t)
			two.visit(t, f.base+"/c/"+token+"?step=review", 200)
			held := make(chan struct{})
			f.change(func() { f.claimHeld = held })
			for i, tab := range []*browser{two, one} {
				tab.toFront(t)
				tab.click(t, ".confirm .send")
				f.awaitHeld(t, i+1)
			}
			f.change(func() { f.claimHeld = nil })
			close(held)
			requireOneOrder(t)
		})
		t.Run("a tab that is still at the address shows the order", func(t *testing.T) {
			start(t)
			two.toFront(t)
			two.visit(t, f.base+"/c/"+token+"?step=address", 200)
			one.toFront(t)
			one.press(t, ".confirm .send")
			two.toFront(t)
			two.press(t, ".address .send")
			requireOneOrder(t)
		})
	})
}
