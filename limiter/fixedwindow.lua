-- One decision of a fixed window, which starts with its first call.
--
-- KEYS[1]  the counter: a whole number with a TTL, the rest of the window
-- ARGV     limit (1 to 2^53), window in ms, cost (1 to limit), "count" or "peek"
-- returns  {allowed, calls left, ms until the window ends or 0 if none runs, healed}
--
-- A run makes at most one write, which either sets count and TTL together or
-- adds to a key whose TTL was just found good. So there is nothing to roll back
-- and no way to a key without TTL: a key does not expire while a script runs.

local key, limit, window, cost = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local counts = ARGV[4] == 'count'

local value = redis.pcall('GET', key)
if type(value) == 'table' then
  return value -- the error as it is: WRONGTYPE, NOPERM
end

local count, rest, sick = 0, 0, false
if value then
  -- Stricter than tonumber, which takes 0x10, 1e3 and 007: INCRBY does not.
  if value ~= '0' and not string.find(value, '^%-?[1-9]%d*$') then
    return redis.error_reply('NOTACOUNT the key does not hold a whole number')
  end
  -- Read as a fraction, for not every Lua reads whole numbers beyond 2^63.
  count, rest = tonumber(value .. '.0'), redis.call('PTTL', key)
  sick = rest == -1 or rest > window or count < 0
end

-- 0 ms left is a window that is over: SET takes no TTL of 0, and adding to the
-- key would leave it with one.
local fresh = sick or rest <= 0
if fresh then
  count, rest = 0, 0
end

-- Not count + cost <= limit: above 2^53 a sum is no longer exact.
local left = math.max(limit - count, 0)
local allowed = cost <= left

-- As cost <= limit, a fresh window allows the call: a sick key is always
-- replaced here, whatever it held.
if counts and allowed then
  if fresh then
    redis.call('SET', key, ARGV[3], 'PX', ARGV[2])
    rest = window
  else
    redis.call('INCRBY', key, ARGV[3])
  end
  left = left - cost
end

return {allowed and 1 or 0, left, rest, counts and sick and 1 or 0}
