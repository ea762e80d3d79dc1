-- The end of a reservation. ARGV: the calls reserved, the calls to be charged; the
-- windows; the mark of each, 0 for one without.
-- returns {healed}

local reserved, charged = argument(1), argument(0)
if not reserved or not charged or charged > reserved then
  return redis.error_reply('BADARGUMENT cost')
end
local windows, marks, failure = {}, {}, false
for i = 1, #KEYS do
  local w, problem = open(i)
  windows[#windows + 1], failure = w, problem or failure
end
for i = 1, #KEYS do
  marks[i] = argument(0)
  if not marks[i] then
    return redis.error_reply('BADARGUMENT mark')
  end
end

local healed = 0
for i = 1, #windows do
  if windows[i].sick then
    call('DEL', windows[i].key)
    healed = 1
  end
end
if failure then
  return failure
end
for i = 1, #windows do
  local w, mark = windows[i], marks[i]
  if mark > 0 and w.policy.holds(w, mark) then
    if charged < reserved then
      w.policy.give(w, reserved - charged, mark)
    end
  elseif charged > 0 then
    w.policy.add(w, charged) -- the window is over: what was done in it counts in the next
  end
end
return {healed}
