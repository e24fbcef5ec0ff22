package giftsite

import (
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// expecting is a browser whose gift was ordered on a Thursday, and takes 3 to 5 working days.
func expecting(t *testing.T) *fixture {
	t.Helper()
	f := ordered(t)
	f.now = time.Date(2026, 11, 26, 9, 30, 0, 0, time.UTC)
	f.order.Gift.ClaimedAt = timestamppb.New(f.now)
	f.page.Brand.Site = threeToFiveDays()
	return f
}

func threeToFiveDays() *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{DeliveryTimes: []*tenantsv1.DeliveryTime{{Country: "SE", MinBusinessDays: 3, MaxBusinessDays: 5}}}
}

const decemberDays = `<b>December 1–3</b>`

func TestTheOrderSaysOnWhichDaysItArrives(t *testing.T) {
	t.Parallel()
	f := expecting(t)
	require.Contains(t, f.get("").body, decemberDays)
	require.Contains(t, f.get("").body, `href="?step=calendar"`)
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	require.Contains(t, f.get("").body, decemberDays)
	f.now = time.Date(2026, 12, 3, 23, 59, 59, 0, time.UTC)
	require.Contains(t, f.get("").body, decemberDays, "the last day is not over")
	own := f.nonce
	for name, change := range map[string]func(){
		"the last day is over":  func() { f.now = f.now.Add(time.Second) },
		"it is there":           func() { f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED },
		"it was cancelled":      func() { f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED },
		"the country is erased": func() { f.order.Gift.MaskedRecipient = nil },
		"a stranger":            func() { f.nonce = "" },
		"the brand is silent":   func() { f.page.Brand.Site.DeliveryTimes = nil },
	} {
		f.now, f.nonce = time.Date(2026, 12, 3, 23, 59, 59, 0, time.UTC), own
		f.page.Brand.Site, f.order = threeToFiveDays(), placedOrder()
		f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
		f.order.Gift.ClaimedAt = timestamppb.New(time.Date(2026, 11, 26, 9, 30, 0, 0, time.UTC))
		require.Contains(t, f.get("").body, "Expected arrival", name)
		change()
		for _, page := range []string{"", "?step=calendar"} {
			got := f.get(page)
			require.NotContains(t, got.body, "Expected arrival", name)
			require.Contains(t, got.Header().Get("Content-Type"), "text/html", name)
		}
	}
}

func TestOneDayIsNoRange(t *testing.T) {
	t.Parallel()
	f := expecting(t)
	f.page.Brand.Site.DeliveryTimes[0].MinBusinessDays = 5
	require.Contains(t, f.get("").body, `<b>December 3</b>`)
}

func TestDaysAreWrittenAsTheLanguageDoes(t *testing.T) {
	t.Parallel()
	at := func(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }
	for locale, want := range map[string][2]string{
		"en-US": {"November 2–4", "November 30 – December 2"}, "en-GB": {"2–4 November", "30 November – 2 December"},
		"de-DE": {"2.–4. November", "30. November – 2. Dezember"}, "es-ES": {"2–4 de noviembre", "30 de noviembre – 2 de diciembre"},
	} {
		require.Equal(t, want, [2]string{read(t).textsFor(locale).days(at(2), at(4)), read(t).textsFor(locale).days(at(30), at(32))})
	}
}

func TestWorkingDaysAreThoseOfTheCountry(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{
		"SE": "2026-12-01", // Friday, Monday, Tuesday.
		"SA": "2026-12-01", // Sunday, Monday, Tuesday.
		"IN": "2026-11-30", // Friday, Saturday, Monday.
		"AF": "2026-11-30", // Saturday, Sunday, Monday.
		"IR": "2026-11-30", // Saturday, Sunday, Monday.
	} {
		thursday := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
		require.Equal(t, want, addWorkingDays(country, thursday, 3).Format(time.DateOnly), country)
	}
}

func TestTheArrivalGoesIntoACalendar(t *testing.T) {
	t.Parallel()
	f := expecting(t)
	f.page.Brand.Name = `Låda, Kort & Söner; "The \ House" of ` + strings.Repeat("åäö", 30)
	got := f.get("?step=calendar")
	require.Equal(t, "text/calendar; charset=utf-8", got.Header().Get("Content-Type"))
	require.Equal(t, `inline; filename="gift.ics"`, got.Header().Get("Content-Disposition"))
	require.Equal(t, "no-store", got.Header().Get("Cache-Control"))
	for _, line := range strings.Split(strings.TrimSuffix(got.body, "\r\n"), "\r\n") {
		require.LessOrEqual(t, len(line), 75)
		require.NotContains(t, line, "\n")
	}
	require.NotContains(t, strings.ReplaceAll(got.body, "\r\n ", ""), token, "calendars are shared")

	calendar, err := ics.ParseCalendar(strings.NewReader(got.body))
	require.NoError(t, err)
	require.Len(t, calendar.Events(), 1)
	entry := calendar.Events()[0]
	require.Equal(t, "NP-1", entry.Id())
	require.NotContains(t, got.body, "gifts.example", "only the brand is named")
	require.Equal(t, "Your gift from "+f.page.GetBrand().GetName()+" arrives", textOf(entry, ics.ComponentPropertySummary))
	require.Equal(t, "Your order reference: NP-1", textOf(entry, ics.ComponentPropertyDescription))
	require.Equal(t, "TRANSPARENT", textOf(entry, ics.ComponentPropertyTransp))
	first, err := entry.GetAllDayStartAt()
	require.NoError(t, err)
	require.Equal(t, "2026-12-01", first.Format(time.DateOnly))
	end, err := entry.GetAllDayEndAt()
	require.NoError(t, err)
	require.Equal(t, "2026-12-04", end.Format(time.DateOnly), "the end is not part of it")
	stamp, err := entry.GetDtStampTime()
	require.NoError(t, err)
	require.Equal(t, f.order.GetGift().GetClaimedAt().AsTime(), stamp.UTC())
}

func textOf(entry *ics.VEvent, property ics.ComponentProperty) string {
	return entry.GetProperty(property).Value
}
