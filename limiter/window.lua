-- The first part of every script: how the window of a key is read.
--
-- COMMAND  what is to be done
-- POLICIES the policy of each window
-- REPLACE  whether a key that is not the policy's is replaced, or an error: these
--          three are from Go, and stand before this
-- KEYS     one a window, all of one subject and so in one slot
-- ARGV     what the call costs, then for each window: longest TTL in ms, limit,
--          and two numbers of the policy's own where it has some
--
-- Nothing here writes. A key does not expire while a script runs, so what was
-- read holds until the script's own write.

local MOST = 9007199254740992 -- 2^53: up to there doubles, which Lua has, count exactly
local call, floor, tonumber = redis.call, math.floor, tonumber
local policies = {}

local clock
local function now() -- the server's, in microseconds, read at most once
  if not clock then
    local time = call('TIME')
    clock = time[1] * 1000000 + time[2]
  end
  return clock
end

-- argument is the next of ARGV, or nil if that is no whole number in bounds. Go
-- checked them. A script checks again before it writes, because nothing takes back
-- what a script wrote before an error.
local last = 0
local function argument(least)
  last = last + 1
  local n = tonumber(ARGV[last])
  if n and n >= least and n <= MOST and n % 1 == 0 then
    return n
  end
end

-- open reads the window of KEYS[i], for all i in their order: a table, or nil and
-- the error. fresh is a window that nothing was counted in; sick is a key that
-- this package does not leave, or leaves only if asked to replace.
local function open(i)
  local policy = policies[POLICIES[i]]
  local ttl, limit, a, b = argument(1), argument(1), 1, 1
  if policy.own then
    a, b = argument(1), argument(1)
  end
  if not (ttl and limit and a and b) then
    return nil, redis.error_reply('BADARGUMENT of a window')
  end
  local w = {
    key = KEYS[i], policy = policy, ttl = ttl, limit = limit, a = a, b = b,
    fresh = true, sick = false, rest = 0, -- ms until the key expires
    left = 0, wait = 0, reset = 0, -- calls; ms until the same call is allowed, and until all are
  }

  -- 0 ms left is a window that is over: to add to it would leave a key with
  -- that TTL. -2 is no key.
  w.rest = call('PTTL', w.key)
  if w.rest == 0 or w.rest == -2 then
    w.rest = 0
    policy.clear(w)
    return w
  end
  local value, readable, impossible = redis.pcall('GET', w.key), false, false
  if type(value) == 'string' then
    readable, impossible = policy.read(w, value)
    if not readable and not REPLACE then
      return nil, redis.error_reply('UNREADABLE value')
    end
  elseif not REPLACE or string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    return nil, value -- the error as it is: WRONGTYPE, NOPERM
  end
  w.sick = not readable or impossible or w.rest == -1 or w.rest > ttl
  w.fresh = w.sick
  if w.sick then
    w.rest = 0
    policy.clear(w)
  end
  return w
end
