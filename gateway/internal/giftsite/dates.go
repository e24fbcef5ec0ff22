package giftsite

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// day is a day on the page.
type day struct {
	// Date is for machines, Text in the words of the page. The text has no year: pages show days of the last weeks.
	Date, Text string
}

// day returns the day of a time in UTC, nil for no time. The site does not know the time zone of its player: an address has only a
// country, and some countries have several. So around midnight the day may be the one before or after that of the player.
func (t *texts) day(at *timestamppb.Timestamp) *day {
	if at == nil {
		return nil
	}
	date := at.AsTime()
	form, month := "date", "month."+strconv.Itoa(int(date.Month()))
	if date.Day() == 1 {
		form = "date.first"
	}
	return &day{Date: date.Format(time.DateOnly), Text: t.T(form, "day", strconv.Itoa(date.Day()), "month", t.T(month))}
}

// arrival says when a gift usually arrives in the country of the address; empty: the brand does not say it.
func (t *texts) arrival(site *tenantsv1.GiftSite, country string) string {
	for _, d := range site.GetDeliveryTimes() {
		least, most := int(d.GetMinBusinessDays()), int(d.GetMaxBusinessDays())
		switch {
		case d.GetCountry() != country:
		case least == most:
			return t.N("arrival.exact", most)
		default:
			return t.N("arrival.range", most, "min", strconv.Itoa(least))
		}
	}
	return ""
}
