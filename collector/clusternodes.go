// What CLUSTER NODES says: which nodes there are and which slots they hold.

package collector

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
)

// memberNode is a line of CLUSTER NODES.
type memberNode struct {
	id       string
	address  string // host:port; without a host where the node itself does not know it
	hostname string // that it announces; empty: none
	flags    []string
	master   string // id; "-" of a master
	slots    []string
}

func (n *memberNode) is(flag string) bool { return slices.Contains(n.flags, flag) }

// parseClusterNodes reads the lines it understands.
func parseClusterNodes(text string) []memberNode {
	var nodes []memberNode
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			continue
		}
		address, announced, _ := strings.Cut(fields[1], ",")
		hostname, _, _ := strings.Cut(announced, ",")
		if strings.Contains(hostname, "=") { // shard-id=..., without a name before it
			hostname = ""
		}
		address, _, _ = strings.Cut(address, "@")
		nodes = append(nodes, memberNode{
			id: fields[0], address: address, hostname: hostname, flags: strings.Split(fields[2], ","), master: fields[3], slots: fields[8:],
		})
	}
	return nodes
}

// reached is the node's address and name, where the answer came from asked.
func (n *memberNode) reached(asked string) (address, name string, ok bool) {
	at := strings.LastIndexByte(n.address, ':')
	if at < 0 {
		return "", "", false
	}
	host, port := strings.Trim(n.address[:at], "[]"), n.address[at+1:]
	if host == "" {
		var err error
		if host, _, err = net.SplitHostPort(asked); err != nil {
			return "", "", false
		}
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", "", false
	}
	address = net.JoinHostPort(host, port)
	if name = address; n.hostname != "" {
		name = net.JoinHostPort(n.hostname, port)
	}
	return address, name, true
}

// ownSlots are the slots whose keys may be on the node that answered CLUSTER
// NODES, ascending: its own ones or, of a replica, its master's, and those that
// are on their way to it.
func ownSlots(nodes string) []int {
	var slots []int
	for _, field := range ownFields(nodes) {
		first, last := slotRange(field)
		for slot := first; slot <= last; slot++ {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// ownFields are what CLUSTER NODES says of the slots of the node that answered,
// or, of a replica, of its master's.
func ownFields(nodes string) []string {
	parsed := parseClusterNodes(nodes)
	var id string
	for _, n := range parsed {
		if n.is("myself") {
			if id = n.id; n.is("slave") {
				id = n.master
			}
		}
	}
	at := slices.IndexFunc(parsed, func(n memberNode) bool { return n.id == id })
	if at < 0 {
		return nil
	}
	return parsed[at].slots
}

// slotRange reads "5", "5-9" or "[5-<-id]", a slot on its way to the node; of
// anything else the last slot is below the first.
func slotRange(field string) (first, last int) {
	from, to, ranges := strings.Cut(field, "-")
	if slot, moving := strings.CutPrefix(from, "["); moving {
		from, to, ranges = slot, slot, strings.HasPrefix(to, "<-")
		if !ranges {
			return 0, -1
		}
	}
	if !ranges {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if errors.Join(err, err2) != nil || first < 0 || last >= slotNumber {
		return 0, -1
	}
	return first, last
}
