-- The fixed window: a count, and the rest of the window as its TTL. It has no
-- numbers of its own.

-- The short way. Lua takes texts for numbers where it subtracts, at less cost than
-- tonumber, but not where it compares.

do
  local key, cost, ttl, limit, call = KEYS[1], ARGV[1], ARGV[2], ARGV[3], redis.call
  local count, rest = redis.pcall('GET', key), call('PTTL', key)
  if rest > 0 and rest - ttl <= 0 and cost - 1 >= 0 and type(count) == 'string' and string.find(count, '^[1-9]%d*$') then
    local left = limit - count - cost
    if left >= 0 then
      call('INCRBY', key, cost)
      return {left, rest}
    end
  end
end

-- The long way.

policies.fixed = {
  read = function(w, value)
    -- Stricter than tonumber, which takes 0x10, 1e3 and 007: INCRBY does not.
    if value ~= '0' and not string.find(value, '^%-?[1-9]%d*$') then
      return false
    end
    -- Read as a fraction, for not every Lua reads whole numbers beyond 2^63.
    w.count = tonumber(value .. '.0')
    return true, w.count < 0
  end,

  clear = function(w)
    w.count = 0
  end,

  look = function(w)
    -- Not count + cost <= limit: above 2^53 a sum is no longer exact.
    w.left = w.count < w.limit and w.limit - w.count or 0
    w.wait, w.reset = w.rest, w.rest
  end,

  add = function(w, n)
    if w.fresh then
      call('SET', w.key, n, 'PX', w.ttl)
      w.rest = w.ttl
    elseif w.count < MOST then -- beyond that the next might overflow, and all are refused
      call('INCRBY', w.key, n)
    end
    w.count = w.count + n
  end,
}

-- Reservations.

-- The mark of a reservation is the end of its window, in ms: the next window of
-- the key ends a window later. What is compared is up to a second inexact: TIME
-- and PTTL are two readings of the clock, and a miniredis lets only one go on.
policies.fixed.mark = function(w)
  return floor(now() / 1000) + w.rest
end

policies.fixed.holds = function(w, mark)
  return not w.fresh and math.abs(floor(now() / 1000) + w.rest - mark) <= math.min(1000, w.ttl / 2)
end

policies.fixed.give = function(w, n)
  if w.count < MOST then
    call('DECRBY', w.key, math.min(n, w.count))
  end
end
