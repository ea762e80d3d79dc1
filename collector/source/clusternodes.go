// What CLUSTER NODES says: which nodes there are and which slots they hold; and
// which slot a key is in.

package source

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Member is a line of CLUSTER NODES. It is exported for the chaos test, which asks
// who is a master now.
type Member struct {
	ID       string
	address  string // host:port; without a host where the node itself does not know it
	hostname string // that it announces; empty: none
	flags    []string
	master   string // id; "-" of a master
	slots    []string
}

// Is says whether the node has a flag, such as myself or master.
func (n *Member) Is(flag string) bool { return slices.Contains(n.flags, flag) }

// ParseClusterNodes reads the lines it understands. Beside this package only the
// chaos test calls it.
func ParseClusterNodes(text string) []Member {
	var nodes []Member
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
		slots := fields[8:]
		nodes = append(nodes, Member{
			ID: fields[0], address: address, hostname: hostname, flags: strings.Split(fields[2], ","), master: fields[3],
			slots: slots[:min(len(slots), HashSlots)], // more there cannot be
		})
	}
	return nodes
}

// reached is the node's address and name, where the answer came from asked.
func (n *Member) reached(asked string) (address, name string, ok bool) {
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
	if address, ok = dialable(host, port); !ok {
		return "", "", false
	}
	if name, ok = dialable(n.hostname, port); !ok {
		name = address
	}
	return address, name, true
}

// dialable is host:port, where that can be an address: it becomes a label, too.
func dialable(host, port string) (address string, ok bool) {
	const longest = 253 // RFC 1035
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" || len(host) > longest {
		return "", false
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", false
	}
	return net.JoinHostPort(host, port), true
}

// OwnSlots are the slots whose keys may be on the node that answered CLUSTER
// NODES, ascending: its own ones or, of a replica, its master's, and those that
// are on their way to it.
func OwnSlots(nodes string) []int {
	var own [HashSlots]bool
	fields, _ := ownFields(nodes)
	for _, field := range fields {
		first, last := slotRange(field)
		for slot := first; slot <= last; slot++ {
			own[slot] = true
		}
	}
	var slots []int
	for slot := range own {
		if own[slot] {
			slots = append(slots, slot)
		}
	}
	return slots
}

// ownFields are what CLUSTER NODES says of the slots of the node that answered,
// or, of a replica, of its master's.
func ownFields(nodes string) (fields []string, replica bool) {
	parsed := ParseClusterNodes(nodes)
	var id string
	for _, n := range parsed {
		if n.Is("myself") {
			if id = n.ID; n.Is("slave") {
				id, replica = n.master, true
			}
		}
	}
	at := slices.IndexFunc(parsed, func(n Member) bool { return n.ID == id })
	if at < 0 {
		return nil, replica
	}
	return parsed[at].slots, replica
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
	if errors.Join(err, err2) != nil || first < 0 || last >= HashSlots {
		return 0, -1
	}
	return first, last
}

// HashSlots is how many slots the keys of a Cluster are spread over.
const HashSlots = 16384

// HashTag is the part of a key's name that decides its slot, and whether it is a
// hash tag: what stands between the first { and the next }, unless that is
// nothing.
func HashTag(name string) (tag string, tagged bool) {
	if _, behind, found := strings.Cut(name, "{"); found {
		if tag, _, found := strings.Cut(behind, "}"); found && tag != "" {
			return tag, true
		}
	}
	return name, false
}

// SlotOf is the slot of a key: the CRC16 (XMODEM) of its tag, modulo 16384.
func SlotOf(name string) int {
	tag, _ := HashTag(name)
	var crc uint16
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int(crc % HashSlots)
}
