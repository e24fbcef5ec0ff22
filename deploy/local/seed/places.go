package seed

import (
	"context"
	"fmt"
	"slices"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// region is a group of countries with the same prices. permille is its price level in thousandths of the price in Europe.
type region struct {
	code      string
	countries []string
	permille  int64
}

var regions = []region{
	{"NORDICS", []string{"SE", "NO", "DK", "FI", "IS"}, 1000},
	{"CENTRAL_EUROPE", []string{"DE", "AT", "CH", "NL", "BE", "LU", "FR", "PL", "CZ"}, 1000},
	{"SOUTHERN_EUROPE", []string{"ES", "PT", "IT", "GR", "MT", "HR", "SI"}, 1050},
	{"BRITISH_ISLES", []string{"GB", "IE"}, 1080},
	{"NORTH_AMERICA", []string{"US", "CA"}, 1180},
	{"ASIA_PACIFIC", []string{"JP", "SG", "AU", "NZ"}, 1220},
}

// reaches maps names to the regions that a gift can be supplied to.
var reaches = map[string][]string{
	"nordics": {"NORDICS"},
	"central": {"NORDICS", "CENTRAL_EUROPE", "BRITISH_ISLES"},
	"europe":  {"NORDICS", "CENTRAL_EUROPE", "SOUTHERN_EUROPE", "BRITISH_ISLES"},
	"world":   {"NORDICS", "CENTRAL_EUROPE", "SOUTHERN_EUROPE", "BRITISH_ISLES", "NORTH_AMERICA", "ASIA_PACIFIC"},
}

// rates are units of a currency for one euro.
var rates = []*catalogv1.PutExchangeRateRequest{
	{Currency: "SEK", Rate: "11.1845"},
	{Currency: "NOK", Rate: "11.6320"},
	{Currency: "DKK", Rate: "7.4601"},
	{Currency: "GBP", Rate: "0.8612"},
	{Currency: "CHF", Rate: "0.9385"},
	{Currency: "PLN", Rate: "4.2570"},
	{Currency: "USD", Rate: "1.0845"},
	{Currency: "CAD", Rate: "1.4710"},
}

func (s *seeder) putRegionsAndRates(ctx context.Context) error {
	for _, r := range regions {
		if _, err := s.catalog.PutRegion(ctx, &catalogv1.PutRegionRequest{Code: r.code, Countries: r.countries}); err != nil {
			return fmt.Errorf("region %s: %w", r.code, err)
		}
	}
	for _, rate := range rates {
		if _, err := s.catalog.PutExchangeRate(ctx, rate); err != nil {
			return fmt.Errorf("rate of %s: %w", rate.GetCurrency(), err)
		}
	}
	return nil
}

// regionsOf returns the regions of a reach.
func regionsOf(reach string) []region {
	codes := reaches[reach]
	var out []region
	for _, r := range regions {
		if slices.Contains(codes, r.code) {
			out = append(out, r)
		}
	}
	return out
}
