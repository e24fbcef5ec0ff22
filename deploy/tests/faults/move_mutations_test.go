package faults_test

const (
	moveDatabases = "services/tenants/internal/moves/databases.go"
	moveFence     = "services/tenants/internal/moves/fence.go"
	moveSwitch    = "services/tenants/internal/moves/switch.go"
)

// slowSwitch leaves a second between the comparison of both cells and the switch.
var slowSwitch = replacement{moveSwitch, `	committing, stop := context`, `	time.Sleep(time.Second)
	committing, stop := context`}

// moveMutations has a bug of each defence of a move.
var moveMutations = []mutation{
	{"sequences of the new cell stay behind", cursor, []replacement{
		{moveSwitch, `if err != nil || highest == 0 {`, `if err != nil || highest >= 0 {`},
		{moveSwitch, `move_feed_in($1, $2, $3, $4, $5)`, `move_feed_in($1, 0 * $2::bigint, $3, $4, $5)`},
	}},
	{"epochs are not carried", cursor, []replacement{{
		moveSwitch, `c.move.ID, last, day, epochs, survived)`, `c.move.ID, last, day, epochs[:0], survived[:0])`,
	}}},
	{"a table is forgotten", stock, []replacement{{
		moveDatabases, `"pauses", "moving_tenants"}`, `"pauses", "moving_tenants", "reservations"}`,
	}}},
	{"the old cell goes on changing", lost, []replacement{slowSwitch, {
		moveFence, `RAISE EXCEPTION 'the tenant is being moved to another cell' USING ERRCODE = '57G01';`, `RETURN NEW;`,
	}}},
	{"the old cell goes on sending", delivery, []replacement{
		// A webhook is on its way for longer.
		{sendWebhook, `return answered
}`, `time.Sleep(time.Second / 2)
	return answered
}`},
		{moveFence, "`SELECT hold_deliveries($1, $2)`", "`SELECT ($1::uuid, $2::int[]) IS NULL`"},
		{moveFence, `AND lease_token IS NOT NULL AND next_attempt_at > clock_timestamp()`, `AND false`},
	}},
}
