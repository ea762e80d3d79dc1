package alerts

var zombieMutations = map[string]mutation{
	"KeyhealthZombieRatioHigh": {
		tests: []string{"zombies_test.yml", "zombies_database_test.yml"},
		edits: []edit{
			// One group.
			{"(keyhealth_group_zombie_ratio_lower_bound) > 0.05", "(keyhealth_group_zombie_ratio_lower_bound) > 0.049"},
			{"(keyhealth_group_zombie_ratio_lower_bound) > 0.05", "(keyhealth_group_zombie_ratio_lower_bound) > 0.052"},
			{"(keyhealth_group_zombie_ratio_lower_bound) > 0.05", "(keyhealth_group_zombie_ratio_lower_bound) >= 0.05"},
			{"max by (target, db, group) (keyhealth_group_zombie_ratio_lower_bound)", "min by (target, db, group) (keyhealth_group_zombie_ratio_lower_bound)"},
			{"(keyhealth_group_zombie_keys_seen) >= 20", "(keyhealth_group_zombie_keys_seen) >= 19"},
			{"(keyhealth_group_zombie_keys_seen) >= 20", "(keyhealth_group_zombie_keys_seen) > 20"},
			{"max by (target, db, group) (keyhealth_group_zombie_keys_seen) >=", "min by (target, db, group) (keyhealth_group_zombie_keys_seen) >="},
			// The database.
			{"(keyhealth_zombie_ratio_lower_bound) > 0.05", "(keyhealth_zombie_ratio_lower_bound) > 0.049"},
			{"(keyhealth_zombie_ratio_lower_bound) > 0.05", "(keyhealth_zombie_ratio_lower_bound) > 0.052"},
			{"(keyhealth_zombie_ratio_lower_bound) > 0.05", "(keyhealth_zombie_ratio_lower_bound) >= 0.05"},
			{"max by (target, db) (keyhealth_zombie_ratio_lower_bound)", "min by (target, db) (keyhealth_zombie_ratio_lower_bound)"},
			{"max by (target, db) (keyhealth_zombie_ratio_lower_bound)", "max by (target, db, instance) (keyhealth_zombie_ratio_lower_bound)"},
			{") >= 100", ") >= 99"},
			{") >= 100", ") > 100"},
			{"sum by (target, db) (", "sum by (target) ("},
			{"max by (target, db, group) (keyhealth_group_keys)", "sum by (target, db, group) (keyhealth_group_keys)"},
			{`{ttl="expected"}`, ``},
			{`{ttl="expected"}`, `{ttl=~"expected|unknown"}`},
			// The group that has an alert of its own.
			{"unless on (target, db)", "unless on (target, db, group)"},
			{"[10m])) > 0.05", "[10m])) > 0.049"},
			{"[10m])) > 0.05", "[10m])) > 0.052"},
			{"[10m])) >= 20", "[10m])) >= 19"},
			{"[10m])) >= 20", "[10m])) > 20"},
			{"[10m])) > 0.05", "[5m])) > 0.05"},
			{"[10m])) > 0.05", "[15m])) > 0.05"},
			{"[10m])) >= 20", "[5m])) >= 20"},
			{"[10m])) >= 20", "[15m])) >= 20"},
		},
	},
	"KeyhealthZombiesPresent": {
		tests: []string{"zombies_present_test.yml"},
		edits: []edit{
			{"> bool 0", "> bool 1"},
			{"> bool 0", ">= bool 0"},
			{">= 0.5", ">= 0.4"},
			{">= 0.5", ">= 0.55"},
			{"[15m:1m]", "[10m:1m]"},
			{"[15m:1m]", "[30m:1m]"},
			{"max by (target, db, group)", "min by (target, db, group)"},
			{"max by (target, db, group)", "max by (target, db, group, instance)"},
		},
	},
	"KeyhealthNoTTLShareHigh": {
		tests: []string{"no_ttl_test.yml"},
		edits: []edit{
			{"> 0.05", "> 0.049"},
			{"> 0.05", "> 0.052"},
			{"> 0.05", ">= 0.05"},
			{">= 100", ">= 99"},
			{">= 100", "> 100"},
			{"              or\n              max by (target, db) (keyhealth_keys_without_ttl) * 0\n", ""},
			{"max by (target, db) (keyhealth_keys) > 0.05", "sum by (target, db) (keyhealth_keys) > 0.05"},
			{"(\n            max by (target, db) (keyhealth_keys_without_ttl)\n", "(\n            sum by (target, db) (keyhealth_keys_without_ttl)\n"},
			{"max by (target, db, group) (keyhealth_group_keys_without_ttl)", "sum by (target, db, group) (keyhealth_group_keys_without_ttl)"},
			{"sum by (target, db) (", "max by (target, db) ("},
			{"sum by (target, db) (", "sum by (target) ("},
			{`keyhealth_group_info{ttl="persistent"}`, `keyhealth_group_info`},
			{`keyhealth_group_info{ttl="persistent"}`, `keyhealth_group_info{ttl="unknown"}`},
			// The groups that the description names.
			{"topk(3,", "topk(1,"},
			{"unless max by (group)", "and max by (group)"},
			{"target=%q,db=%q", "target=%q,db!=%q"},
			{"target=%q,db=%q", "target!=%q,db=%q"},
			{`,group!~".*[(].*"`, ``},
			{`,ttl="unknown"`, ``},
		},
	},
	"KeyhealthTTLExcessive": {
		tests: []string{"ttl_test.yml"},
		edits: append(excessiveEdits(), edit{`{ttl="expected"}`, `{ttl!="unknown"}`}, edit{`{ttl="expected"}`, `{ttl!="persistent"}`}),
	},
	"KeyhealthTTLExcessive#2": {
		tests: []string{"ttl_test.yml"},
		edits: append(excessiveEdits(), edit{`{ttl="unknown"}`, `{ttl!="expected"}`}, edit{`{ttl="unknown"}`, `{ttl!="persistent"}`}),
	},
	"KeyhealthCallersAtRisk": {
		tests: []string{"callers_test.yml"},
		edits: []edit{
			{"> bool 0", "> bool 1"},
			{"> bool 0", ">= bool 0"},
			{">= 0.5", ">= 0.4"},
			{">= 0.5", ">= 0.55"},
			{"[15m:1m]", "[10m:1m]"},
			{"[15m:1m]", "[30m:1m]"},
			{"max by (target, db, group)", "min by (target, db, group)"},
			{"max by (target, db, group)", "max by (target, db, group, instance)"},
		},
	},
	"KeyhealthCallersLockedOut": {
		tests: []string{"callers_test.yml"},
		edits: []edit{
			{") > 0", ") > 1"},
			{") > 0", ") >= 0"},
			{"max by (target, db, group)", "min by (target, db, group)"},
			{"max by (target, db, group)", "max by (target, db, group, instance)"},
		},
	},
	"KeyhealthZombieKeysGrowing": {
		tests: []string{"growing_test.yml"},
		edits: []edit{
			{"> 1.2 *", "> 1.19 *"},
			{"> 1.2 *", "> 1.22 *"},
			{"> 1.2 *", ">= 1.2 *"},
			{"+ 10\n", "+ 9\n"},
			{"+ 10\n", "+ 11\n"},
			{"min_over_time(", "max_over_time("},
			{"            max_over_time(", "            min_over_time("},
			{"[1h:1m]\n", "[30m:1m]\n"},
			{"[1h:1m]\n", "[2h:1m]\n"},
			{"[1h:1m] offset", "[30m:1m] offset"},
			{"[1h:1m] offset", "[2h:1m] offset"},
			{"offset 6h", "offset 5h"},
			{"offset 6h", "offset 7h"},
			{"(max by (target, db, group) (keyhealth_group_zombie_keys))[1h:1m]\n", "(min by (target, db, group) (keyhealth_group_zombie_keys))[1h:1m]\n"},
			{"(max by (target, db, group) (keyhealth_group_zombie_keys))[1h:1m] off", "(min by (target, db, group) (keyhealth_group_zombie_keys))[1h:1m] off"},
		},
	},
}

// excessiveEdits are the edits that both rules of KeyhealthTTLExcessive share.
func excessiveEdits() []edit {
	return []edit{
		{") > 0", ") > 1"},
		{") > 0", ") >= 0"},
		{"[15m]", "[10m]"},
		{"[15m]", "[20m]"},
		{"max by (target, db, group) (max_over_time", "sum by (target, db, group) (max_over_time"},
		{"max by (target, db, group) (max_over_time", "max by (target, db, group, instance) (max_over_time"},
	}
}
