package alerts

// What is made wrong in which rule, and which unit tests must notice. The
// durations and the severity of every rule are changed too: see headEdits. Here
// are the rules about the exporter's health and the make-up of the keyspace, in
// mutations_zombies_test.go those about keys and TTLs, and about memory in
// mutations_memory_test.go.

import "maps"

// A mutation is what is changed in a rule, one edit at a time, and the unit test
// files that must notice.
type mutation struct {
	tests []string
	edits []edit
}

// mutations are those of all rules, keyed by alert; the second rule of the same
// name is NAME#2.
func mutations() map[string]mutation {
	all := maps.Clone(otherMutations)
	maps.Copy(all, zombieMutations)
	maps.Copy(all, memoryMutations)
	return all
}

var otherMutations = map[string]mutation{
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
	"KeyhealthExpiredBacklogHigh": {
		tests: []string{"keyspace_test.yml"},
		edits: []edit{
			{"> 0.5", "> 0.49"},
			{"> 0.5", "> 0.502"},
			{"> 0.5", ">= 0.5"},
			{"> 0.5", "> 0.25"},
			{"max by (target, node, db)", "max by (target, node)"},
			{"max by (target, node, db)", "min by (target, node, db)"},
		},
	},
	"KeyhealthKeyExplosion": {
		tests: []string{"keyspace_test.yml"},
		edits: []edit{
			{"> 0.9\n", "> 0.89\n"},
			{"> 0.9\n", "> 0.902\n"},
			{"> 0.9\n", ">= 0.9\n"},
			{"> 100000)", "> 100001)"},
			{"> 100000)", ">= 100000)"},
			{"> 100000)", "> 50000)"},
			{"> 100\n", "> 98\n"},
			{"> 100\n", "> 102\n"},
			{`{unique_names="true"}`, `{unique_names="false"}`},
			{"          unless\n          max by (target, db, group) (keyhealth_group_info{unique_names=\"true\"})\n", ""},
			{"          and on (target)\n          target:keyhealth_new_keys:rate15m > 100\n", ""},
			{"sum by (target, db, group)", "max by (target, db, group)"},
			{"max by (target, db, group, kind)", "sum by (target, db, group, kind)"},
			{"(max by (target, db, group) (keyhealth_group_keys)", "(sum by (target, db, group) (keyhealth_group_keys)"},
		},
	},
	"KeyhealthBigKeys": {
		tests: []string{"keyspace_test.yml"},
		edits: []edit{
			{") > 0", ") > 1"},
			{") > 0", ") >= 0"},
			{"max by (target, db, group)", "min by (target, db, group)"},
			{"max by (target, db, group)", "max by (target, db, group, instance)"},
		},
	},
	"KeyhealthScriptSlow": {
		tests: []string{"scripts_test.yml"},
		edits: []edit{
			{"> 0.005", "> 0.0049"},
			{"> 0.005", "> 0.0052"},
			{"_sum[5m]", "_sum[3m]"},
			{"_sum[5m]", "_sum[15m]"},
			{"_count[5m]", "_count[3m]"},
			{"max by (target, node, command)", "max by (target, node)"},
			{"max by (target, node, command)", "max by (target, node, command, instance)"},
		},
	},
	"KeyhealthPermissionDenied": {
		tests: []string{"folded_test.yml"},
		edits: []edit{
			{"== 0", "== 1"},
			{"== 0", "<= 1"},
			{`{required="true"}`, ``},
			{"min by (target, capability)", "max by (target, capability)"},
			{"min by (target, capability)", "min by (target)"},
		},
	},
	"KeyhealthSelfTestFailing": {
		tests: []string{"selftest_test.yml"},
		edits: []edit{
			{"== 0", "== 1"},
			{"== 0", "<= 1"},
			{"min by (target, check)", "max by (target, check)"},
			{"min by (target, check)", "min by (target)"},
		},
	},
	"KeyhealthGroupsFolded": {
		tests: []string{"folded_test.yml"},
		edits: []edit{
			{") > 0", ") > 1"},
			{") > 0", ") >= 0"},
			{"max by (target)", "min by (target)"},
			{"max by (target)", "max by (target, instance)"},
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
