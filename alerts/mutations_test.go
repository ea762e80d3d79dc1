package alerts

// What is made wrong in which rule, and which unit tests must notice. The
// durations and the severity of every rule are changed too: see headEdits.

// mutations are keyed by alert; the second rule of the same name is NAME#2.
var mutations = map[string]struct {
	tests []string // unit test files that must notice
	edits []edit
}{
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
	"target:keyhealth_new_keys:rate15m": {
		tests: []string{"recording_test.yml"},
		edits: []edit{
			{"deriv(sum by (target)", "deriv(max by (target)"},
			{"max by (target, db) (keyhealth_keys)", "sum by (target, db) (keyhealth_keys)"},
			{"[15m:1m]", "[5m:1m]"},
			{"sum by (target) (max by (target, node) (rate(keyhealth_expired", "max by (target) (max by (target, node) (rate(keyhealth_expired"},
			{"max by (target, node) (rate(keyhealth_expired", "sum by (target, node) (rate(keyhealth_expired"},
			{"expired_keys_total[15m]", "expired_keys_total[5m]"},
			{"sum by (target) (max by (target, node) (rate(keyhealth_evicted", "max by (target) (max by (target, node) (rate(keyhealth_evicted"},
			{"max by (target, node) (rate(keyhealth_evicted", "sum by (target, node) (rate(keyhealth_evicted"},
			{"evicted_keys_total[15m]", "evicted_keys_total[5m]"},
			{"clamp_min(", "clamp_max("},
			{"keyhealth_expired_keys_total[15m])))\n              or\n              max by (target) (keyhealth_up) * 0\n", "keyhealth_expired_keys_total[15m])))\n"},
			{"keyhealth_evicted_keys_total[15m])))\n              or\n              max by (target) (keyhealth_up) * 0\n", "keyhealth_evicted_keys_total[15m])))\n"},
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
	"KeyhealthZombiesUnevictable": {
		tests: []string{"unevictable_test.yml"},
		edits: []edit{
			{"> 0.05", "> 0.049"},
			{"> 0.05", "> 0.052"},
			{"> 0.05", ">= 0.05"},
			{") > 0\n", ") >= 0\n"},
			{") == 1\n", ") >= 0\n"},
			{"or on (target)", "or"},
			{`role="master"`, `role=~"master|replica"`},
			{`role="master"`, `role="replica"`},
			{"volatile-.+|noeviction", "volatile-.+"},
			{"volatile-.+|noeviction", "noeviction"},
			{"volatile-.+|noeviction", ".+"},
			{"max by (target, db, group)", "sum by (target, db, group)"},
			{"max by (target, db, group)", "max by (target, db)"},
			{"max by (target, db, group)", "max by (target, group)"},
			{
				"(\n                max by (target, node) (keyhealth_memory_max_bytes)\n                and\n                max by (target, node) (keyhealth_redis_info",
				"(\n                sum by (target, node) (keyhealth_memory_max_bytes)\n                and\n                max by (target, node) (keyhealth_redis_info",
			},
			{
				"(\n                max by (target, node) (keyhealth_memory_max_bytes)\n                and\n                max by (target, node) (keyhealth_redis_info",
				"(\n                max by (target, node) (keyhealth_redis_info",
			},
		},
	},
	"KeyhealthEvictionPoolSmall": {
		tests: []string{"memory_test.yml"},
		edits: []edit{
			{"< 0.1", "< 0.099"},
			{"< 0.1", "< 0.101"},
			{"< 0.1", "<= 0.1"},
			{"> 0.8", "> 0.799"},
			{"> 0.8", "> 0.802"},
			{"> 0.8", ">= 0.8"},
			{"> 0)", ">= 0)"},
			{`policy=~"volatile-.+"`, `policy=~"volatile-.+|noeviction"`},
			{"max by (target, node) (keyhealth_memory_used_bytes)", "sum by (target, node) (keyhealth_memory_used_bytes) / 4"},
			{"max by (target, node) (keyhealth_evictable_keys_ratio)", "sum by (target, node) (keyhealth_evictable_keys_ratio)"},
		},
	},
	"KeyhealthMemoryNearLimit": {
		tests: []string{"memory_test.yml"},
		edits: []edit{
			{"> 0.9", "> 0.899"},
			{"> 0.9", "> 0.902"},
			{"> 0.9", ">= 0.9"},
			{"< 0.5", "< 0.499"},
			{"< 0.5", "< 0.501"},
			{"< 0.5", "<= 0.5"},
			{"> 0)", ">= 0)"},
			{"          and\n          max by (target, node) (keyhealth_evictable_keys_ratio) < 0.5\n", ""},
			{"max by (target, node) (keyhealth_memory_used_bytes)", "sum by (target, node) (keyhealth_memory_used_bytes)"},
		},
	},
	"KeyhealthMemoryUnlimited": {
		tests: []string{"memory_test.yml"},
		edits: []edit{
			{"> 0.8", "> 0.799"},
			{"> 0.8", "> 0.802"},
			{"> 0.8", ">= 0.8"},
			{"> 0)", ">= 0)"},
			{"== 0", ">= 0"},
			{"== 0", "> 0"},
			{"max by (target, node) (keyhealth_memory_rss_bytes)", "sum by (target, node) (keyhealth_memory_rss_bytes)"},
		},
	},
	"KeyhealthRedisDown": {
		tests: []string{"health_test.yml"},
		edits: []edit{
			{"== 0", "== 1"},
			{"== 0", "<= 1"},
			{"max by (target)", "min by (target)"},
			{"max by (target)", "max by (target, instance)"},
		},
	},
	"KeyhealthSweepStale": {
		tests: []string{"health_test.yml"},
		edits: []edit{
			{"== 0", "== 1"},
			{"> 2 *", "> 1.95 *"},
			{"> 2 *", "> 2.05 *"},
			{"> 2 *", ">= 2 *"},
			{"          max by (target) (keyhealth_sweep", "          min by (target) (keyhealth_sweep"},
			{"time() - max by (target)", "time() - min by (target)"},
			{"          max by (target) (keyhealth_sweep", "          max by (target, instance) (keyhealth_sweep"},
		},
	},
	"KeyhealthExporterAbsent": {
		tests: []string{"absent_test.yml"},
		edits: []edit{
			{"absent(keyhealth_up)", "absent(keyhealth_up == 1)"},
			{"absent(keyhealth_up)", `absent(keyhealth_up{instance="a"})`},
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
