package incident

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Condition is NAME{LABELS} OP NUMBER: at least one series matches, and each
// that does satisfies it.
type Condition struct {
	text     string
	selector Selector
	operator string
	number   float64
}

var conditionForm = regexp.MustCompile(`^(.*?)\s*(==|!=|>=|<=|>|<)\s*(\S+)$`)

// ParseCondition reads a condition.
func ParseCondition(text string) (Condition, error) {
	// The operator is the last one: labels may hold others.
	parts := conditionForm.FindStringSubmatch(text)
	if end := strings.LastIndex(text, "}"); end >= 0 {
		if tail := conditionForm.FindStringSubmatch(text[end+1:]); tail != nil {
			parts = []string{text, text[:end+1] + tail[1], tail[2], tail[3]}
		}
	}
	if parts == nil {
		return Condition{}, fmt.Errorf("%q is no NAME{LABELS} OP NUMBER", text)
	}
	selector, err := ParseSelector(parts[1])
	if err != nil {
		return Condition{}, err
	}
	number, err := strconv.ParseFloat(parts[3], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", text, err)
	}
	return Condition{text, selector, parts[2], number}, nil
}

// Miss says what is wrong with the samples, or "" where the condition holds.
func (c Condition) Miss(samples []Sample) string {
	matched := 0
	for _, s := range samples {
		if !c.selector.Matches(s) {
			continue
		}
		matched++
		if !c.holds(s.Value) {
			return fmt.Sprintf("%s: is %v in %s", c.text, s.Value, s.Series())
		}
	}
	if matched == 0 {
		return c.text + ": no such series"
	}
	return ""
}

func (c Condition) holds(value float64) bool {
	switch c.operator {
	case "==":
		return value == c.number
	case "!=":
		return value != c.number
	case ">=":
		return value >= c.number
	case "<=":
		return value <= c.number
	case ">":
		return value > c.number
	}
	return value < c.number
}

// Misses are what is wrong with the samples, by condition.
func Misses(conditions []string, samples []Sample) ([]string, error) {
	var misses []string
	for _, text := range conditions {
		condition, err := ParseCondition(text)
		if err != nil {
			return nil, err
		}
		if miss := condition.Miss(samples); miss != "" {
			misses = append(misses, miss)
		}
	}
	return misses, nil
}
