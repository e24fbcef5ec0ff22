package giftsite

import (
	"strconv"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

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
