-- A decision. COMMAND: "take", "peek" or "reserve".
-- returns {allowed, healed, then for each window: calls left, ms until the same
-- call can be allowed, ms until all calls are there, mark of the reservation}
-- or of a short way, where the call was allowed, {calls left, ms until all are}

local cost = argument(1)
if not cost then
  return redis.error_reply('BADARGUMENT cost')
end

local windows, allowed, failure = {}, true, false
for i = 1, #KEYS do
  local w, problem = open(i)
  if w then
    w.policy.look(w, cost)
    windows[#windows + 1], allowed = w, allowed and cost <= w.left
  else
    failure = problem
  end
end

-- The only writes, after all that can fail: all windows or none.
allowed = allowed and not failure
local healed = 0
if COMMAND ~= 'peek' then
  for i = 1, #windows do
    local w = windows[i]
    healed = w.sick and 1 or healed
    if allowed then
      w.policy.add(w, cost)
      w.policy.look(w, cost)
    elseif w.sick then
      call('DEL', w.key) -- what is fresh needs no key
    end
  end
end
if failure then
  return failure
end

local reply = {allowed and 1 or 0, healed}
for i = 1, #windows do
  local w = windows[i]
  reply[4 * i - 1] = w.left
  reply[4 * i] = w.wait
  reply[4 * i + 1] = w.reset
  reply[4 * i + 2] = COMMAND == 'reserve' and w.policy.mark(w) or 0
end
return reply
