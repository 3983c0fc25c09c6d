-- What jobs read one after the other have in common is looked at once.
local last_name, last_opts, last_time, on_one_line, digits
