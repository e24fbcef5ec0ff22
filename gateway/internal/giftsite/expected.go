package giftsite

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// expectedArrival are the days on which a gift usually arrives. They may be the same.
type expectedArrival struct {
	Text string

	first, last time.Time
}

// expected returns when the gift usually arrives in the country of its address: the brand's working days, counted from the order.
// Nil: the brand does not say it, or the time is over.
func (t *texts) expected(site *tenantsv1.GiftSite, gift *linksv1.ClaimedGift, now time.Time) *expectedArrival {
	country := gift.GetMaskedRecipient().GetCountry()
	for _, d := range site.GetDeliveryTimes() {
		if d.GetCountry() != country || gift.GetClaimedAt() == nil {
			continue
		}
		ordered := gift.GetClaimedAt().AsTime()
		e := &expectedArrival{
			first: addWorkingDays(country, ordered, d.GetMinBusinessDays()), last: addWorkingDays(country, ordered, d.GetMaxBusinessDays()),
		}
		if now.UTC().Format(time.DateOnly) > e.last.Format(time.DateOnly) {
			return nil
		}
		e.Text = t.days(e.first, e.last)
		return e
	}
	return nil
}

// days are the first and the last day, as the language writes them.
func (t *texts) days(first, last time.Time) string {
	from, to := t.day(timestamppb.New(first)).Text, t.day(timestamppb.New(last)).Text
	switch {
	case from == to:
		return from
	case first.Month() != last.Month():
		return from + " – " + to
	}
	month := "month." + strconv.Itoa(int(first.Month()))
	return t.T("date.range", "day", strconv.Itoa(first.Day()), "last", strconv.Itoa(last.Day()), "month", t.T(month))
}

// addWorkingDays returns the day that is so many working days later. Public holidays are not known: they count as working days.
func addWorkingDays(country string, at time.Time, days int32) time.Time {
	weekend := weekendOf(country)
	for days > 0 {
		if at = at.AddDate(0, 0, 1); !slices.Contains(weekend, at.Weekday()) {
			days--
		}
	}
	return at
}

// weekendOf returns the days of the week on which most people of a country do not work, as the CLDR has them.
func weekendOf(country string) []time.Weekday {
	switch country {
	case "BH", "DZ", "EG", "IL", "IQ", "JO", "KW", "LY", "OM", "QA", "SA", "SD", "SY", "YE":
		return []time.Weekday{time.Friday, time.Saturday}
	case "AF":
		return []time.Weekday{time.Thursday, time.Friday}
	case "IR":
		return []time.Weekday{time.Friday}
	case "IN", "UG":
		return []time.Weekday{time.Sunday}
	}
	return []time.Weekday{time.Saturday, time.Sunday}
}

// writeCalendar sends the expected arrival as an entry for a calendar (RFC 5545). It has whole days and blocks none of them. The
// address of the link is not in it: calendars are shared.
func (s *Site) writeCalendar(v *visit, p orderView, ordered time.Time) {
	const date = "20060102"
	var b strings.Builder
	for _, line := range []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//" + calendarText(p.Brand) + "//EN", "BEGIN:VEVENT",
		"UID:" + p.Mine.Reference, "DTSTAMP:" + ordered.UTC().Format(date+"T150405Z"),
		"DTSTART;VALUE=DATE:" + p.Arrival.first.Format(date), "DTEND;VALUE=DATE:" + p.Arrival.last.AddDate(0, 0, 1).Format(date),
		"SUMMARY:" + calendarText(p.T("calendar.summary", "brand", p.Brand)),
		"DESCRIPTION:" + calendarText(p.T("thanks.reference")+": "+p.Mine.Reference),
		"TRANSP:TRANSPARENT", "END:VEVENT", "END:VCALENDAR",
	} {
		writeFolded(&b, line)
	}
	v.w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	v.w.Header().Set("Content-Disposition", `inline; filename="gift.ics"`) // Phones open it in their calendar.
	s.write(v.w, http.StatusOK, []byte(b.String()))
}

func calendarText(text string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`).Replace(text)
}

// writeFolded writes a line of a calendar, folded into lines of at most 75 bytes.
func writeFolded(b *strings.Builder, line string) {
	width := 0
	for _, r := range line {
		if width += utf8.RuneLen(r); width > 75 {
			b.WriteString("\r\n ")
			width = 1 + utf8.RuneLen(r)
		}
		b.WriteRune(r)
	}
	b.WriteString("\r\n")
}
