package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// MatchCustomFields returns the answers to the tenant's fields, or invalid_custom_fields.
func MatchCustomFields(definitions []*tenantsv1.CustomField, answers []*ordersv1.CustomFieldAnswer) ([]CustomAnswer, error) {
	matched, refusal := fields.MatchCustomFields(definitions, CustomAnswers(answers))
	if refusal == "" {
		return matched, nil
	}
	p := problem.New(problem.InvalidCustomFields, "%s", refusal)
	p.Violations = []problem.Violation{{Field: "customFields", Code: problem.FieldInvalid, Message: refusal}}
	return nil, p
}

// FindManager returns the id of the active team member with the address; nil for a blank address.
func FindManager(team []*tenantsv1.TeamMember, email string) (*string, error) {
	if fields.Blank(email) {
		return nil, nil //nolint:nilnil // No manager is requested.
	}
	key := fields.EmailKey(email)
	for _, member := range team {
		if member.GetActive() && member.GetEmail() == key {
			return new(member.GetId()), nil
		}
	}
	return nil, problem.New(problem.ManagerNotFound, "managerEmail names no active team member.")
}

// HasBrand reports whether the tenant has the brand.
func HasBrand(brands []*tenantsv1.Brand, id string) bool {
	return slices.ContainsFunc(brands, func(b *tenantsv1.Brand) bool { return b.GetId() == id })
}

// OpeningHours is the service operator's weekly schedule.
type OpeningHours struct {
	zone *time.Location
	days map[time.Weekday][]span
}

// span is from opening to closing, in minutes after midnight; closing is exclusive.
type span struct{ from, to int }

// ErrSchedule means that a schedule cannot be parsed.
var ErrSchedule = errors.New("opening hours must be like Mon-Fri 09:00-17:00; Sat 10:00-14:00")

var (
	weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	entry    = regexp.MustCompile(`^([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? (\d\d:\d\d)-(\d\d:\d\d)$`)
)

// ParseOpeningHours reads entries separated by semicolons, each a day or a range of days and the
// hours, in the named time zone.
func ParseOpeningHours(schedule, zone string) (*OpeningHours, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("opening hours: %w", err)
	}
	hours := &OpeningHours{zone: location, days: map[time.Weekday][]span{}}
	for text := range strings.SplitSeq(schedule, ";") {
		if err := hours.add(strings.TrimSpace(text)); err != nil {
			return nil, err
		}
	}
	return hours, nil
}

func (h *OpeningHours) add(text string) error {
	m := entry.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%w: %q", ErrSchedule, text)
	}
	first, last := slices.Index(weekdays, m[1]), slices.Index(weekdays, m[2])
	if m[2] == "" {
		last = first
	}
	from, okFrom := minutes(m[3])
	to, okTo := minutes(m[4])
	if first < 0 || last < 0 || !okFrom || !okTo || from >= to {
		return fmt.Errorf("%w: %q", ErrSchedule, text)
	}
	for day := first; ; day = (day + 1) % len(weekdays) {
		h.days[time.Weekday(day)] = append(h.days[time.Weekday(day)], span{from, to})
		if day == last {
			return nil
		}
	}
}

func minutes(clock string) (int, bool) {
	const perHour, perDay = 60, 24 * 60
	n := (int(clock[0]-'0')*10+int(clock[1]-'0'))*perHour + int(clock[3]-'0')*10 + int(clock[4]-'0')
	return n, n <= perDay && clock[3] < '6'
}

// Open reports whether the operator works at the instant.
func (h *OpeningHours) Open(at time.Time) bool {
	local := at.In(h.zone)
	minute := local.Hour()*60 + local.Minute()
	return slices.ContainsFunc(h.days[local.Weekday()], func(s span) bool { return minute >= s.from && minute < s.to })
}
