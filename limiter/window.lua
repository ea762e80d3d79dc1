-- The first part of every script: how the window of a key is read.
--
-- POLICIES the policy of each window, from Go: scripts differ by these and by
-- REPLACE  whether a key that is not the policy's is replaced, or an error
-- KEYS     one a window, all of one subject and so in one slot
-- ARGV     two arguments of the script itself, then four a window: longest TTL
--          in ms, limit, and two of the policy's own
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

-- whole is an argument that is a whole number, or nil.
local function whole(text, least)
  local n = tonumber(text)
  if n and n >= least and n <= MOST and n % 1 == 0 then
    return n
  end
end

-- open reads the window of KEYS[i]: a table, or nil and the error. fresh is a
-- window that nothing was counted in; sick is a key that this package does not
-- leave, or leaves only if asked to replace.
local function open(i)
  local policy, at = policies[POLICIES[i]], 4 * i - 1
  local ttl, limit, a, b = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  -- Go checked them. A script checks again before it writes, because nothing
  -- takes back what a script wrote before an error.
  if not (policy and ttl and limit and a and b and ttl >= 1 and limit >= 1 and limit <= MOST and a >= 1 and b >= 1
    and ttl % 1 + limit % 1 + a % 1 + b % 1 == 0) then
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
